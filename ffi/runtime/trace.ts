import process from "node:process";
import { environment } from "./environment.ts";

/** The parts that `GGML_FFI_TRACE` names: `1` the calls, `load` the files tried, `all` both. */
export function traced(what: "calls" | "load"): boolean {
  const asked = environment("GGML_FFI_TRACE");
  if (asked === undefined || asked === "0") return false;
  return asked === "all" || (what === "load" ? asked === "load" : asked === "1" || asked === "calls");
}

/** Writes a line to the error output. */
export function traceLine(text: string): void {
  process.stderr.write(`ggml-ffi: ${text}\n`);
}

/** A value in a trace line: short, and never more than its kind and size for memory. */
export function traceValue(value: unknown): string {
  if (typeof value === "bigint") return value < 65536n ? `${value}` : `0x${value.toString(16)}`;
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.byteLength} bytes)`;
  if (typeof value === "object" && value !== null) return `{${value.constructor.name}}`;
  return String(value);
}
