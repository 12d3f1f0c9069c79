import type { Command } from "../command.ts";
import { EXIT } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { jsonLine } from "../results/json.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { print } from "../terminal/output.ts";
import { ProgressBar } from "../terminal/progress_bar.ts";

/** `install-libraries`: fetches the native libraries into the cache. */
export const command: Command = {
  name: "install-libraries",
  summary: "fetch the native libraries into the cache, where no package manager does",
  usage: "[OPTIONS]",
  description:
    "Fetches the native libraries of this release from the npm registry ($NPM_CONFIG_REGISTRY) into the cache, and prints their folder.\n" +
    "A download that was cut goes on where it ended. Nothing is fetched when they are there.",
  flags: [{ name: "json", help: "write one JSON object: directory, downloadedBytes" }],
  maxPositionals: 0,
  examples: [["deno run -A cli/main.ts install-libraries", "once per release and machine"]],
  run,
};

async function run(given: Given): Promise<number> {
  const { installLibraries } = await import("../../mod.ts");
  using interrupt = new Interrupt();
  using bar = new ProgressBar("fetching the libraries");
  const installed = await installLibraries({
    signal: interrupt.signal,
    onProgress: ({ receivedBytes, totalBytes }) => bar.draw(receivedBytes / totalBytes),
  });
  bar[Symbol.dispose]();
  await print(given.has("json") ? jsonLine(installed) : `${installed.directory}\n`);
  return EXIT.fine;
}
