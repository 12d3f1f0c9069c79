import process from "node:process";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { FileServer } from "./file_server.ts";

/** Runs a test with a cache of its own and a server that stands in for the hub. */
export async function withCache(
  file: Uint8Array,
  run: (server: FileServer, cache: string) => Promise<void>,
): Promise<void> {
  using folder = new TemporaryFolder();
  await using server = await FileServer.start("/models/small.gguf", file);
  const variables = { GGML_FFI_CACHE: folder.path, HF_ENDPOINT: server.origin(), HF_HUB_CACHE: folder.file("hub") };
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    await run(server, folder.path);
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
