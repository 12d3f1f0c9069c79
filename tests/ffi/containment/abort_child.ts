// Aborts that end the program: on the main thread, on a thread that was told so, on a thread that isn't one of ours; or native code in two places.
import process from "node:process";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { NativeThread, open, type Pointer } from "../../../ffi/mod.ts";
import type { tasks } from "./abort_entry.ts";

const native = await open();
const { lib } = native;
const entry = new URL("./abort_entry.ts", import.meta.url);

function give(up: "main" | "worker"): void {
  console.log(`${up} gives up`);
  lib.gguf_get_val_u32(lib.gguf_init_empty() as Pointer<"gguf_context">, 5n);
}

async function containedHere(): Promise<string> {
  const thread = await NativeThread.start<typeof tasks>(native, { entry });
  return await thread.run("libc", "abort").then(() => "returned", (error: Error) => error.name);
}

const kind = process.argv[2];
if (!isMainThread) {
  if (kind === "worker") give("worker");
  parentPort?.postMessage(`worker ${await containedHere()}`);
} else if (kind === "main") {
  give("main");
} else if (kind === "here") {
  console.log(`main ${await containedHere()}`);
  process.exit();
} else if (kind === "worker" || kind === "both") {
  if (kind === "both") console.log(`main ${await containedHere()}`);
  const worker = new Worker(new URL(import.meta.url), { argv: [kind] });
  console.log(await new Promise((resolve) => worker.once("message", resolve)));
  console.log(`main ${await containedHere()}`);
  // In Bun a Worker that has a sleeping one doesn't end by itself.
  process.exit();
} else {
  const thread = await NativeThread.start(native, { nativeAbort: "exit" });
  await thread.call("gguf_get_val_u32", lib.gguf_init_empty() as Pointer<"gguf_context">, 5n);
}
