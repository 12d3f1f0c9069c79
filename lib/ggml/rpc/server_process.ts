/**
 * The process of an RPC server: upstream's loop, which never ends, on a native thread. It is no module to import.
 *
 * @module
 */

import process from "node:process";
import { ggml_backend_dev_type, type Native, NativeThread, open, type Pointer } from "../../../ffi/mod.ts";
import type { RpcChildSettings } from "./server.ts";

const { endpoint, threads, devices, cache } = JSON.parse(process.argv[2] ?? "") as RpcChildSettings;
// The program that started it has ended.
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0)).resume();
const native = await open();
const found = BigUint64Array.from(
  devices.length === 0 ? defaultDevices(native) : devices.map((name) => named(native, name)),
);
// Nothing watches it: it waits for clients as long as there are none. An abort ends the process.
const thread = await NativeThread.start(native, { nativeAbort: "exit", watchdogMs: 0 });
await thread.call(
  "ggml_backend_rpc_start_server",
  endpoint,
  cache,
  BigInt(threads),
  BigInt(found.length),
  found,
);
process.exit(1);

/** The graphics cards, or without one the processor. */
function defaultDevices({ lib }: Native): bigint[] {
  const all = Array.from(
    { length: Number(lib.ggml_backend_dev_count()) },
    (_, index) => lib.ggml_backend_dev_get(BigInt(index)),
  );
  const cpu = ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU;
  const cards = all.filter((device) => device !== null && lib.ggml_backend_dev_type(device) !== cpu);
  return (cards.length > 0 ? cards : all).filter((device) => device !== null);
}

function named({ lib }: Native, name: string): Pointer<"ggml_backend_device"> {
  const device = lib.ggml_backend_dev_by_name(name);
  if (device !== null) return device;
  process.stderr.write(`there is no device ${name}\n`);
  return process.exit(1);
}
