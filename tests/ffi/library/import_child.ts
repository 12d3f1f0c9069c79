import { readFileSync } from "node:fs";
import process from "node:process";
import * as ffi from "../../../ffi/mod.ts";
import * as thread from "../../../ffi/thread/native_thread.ts";

const maps = process.platform === "linux" ? readFileSync("/proc/self/maps", "utf8") : "";
const mapped = /ggml|llama/.test(
  maps.replaceAll("ggml-ffi", "").split("\n").filter((line) => line.includes(".so")).join("\n"),
);
console.log(
  typeof ffi.open === "function" && typeof thread.NativeThread === "function" ? "imported," : "broken,",
  mapped ? "mapped" : "nothing mapped",
);
