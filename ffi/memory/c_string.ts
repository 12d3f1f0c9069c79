import { InvalidArgumentError } from "../../base/errors.ts";
import { joined } from "./concat.ts";
import type { NativeRuntime } from "../runtime/types.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of a string in UTF-8 with a NUL behind. Throws InvalidArgumentError when the text holds a NUL itself, which C would take as its end. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  if (text.includes("\0")) {
    throw new InvalidArgumentError("a C string can't contain a NUL character", {
      value: text,
      expected: "text without \\0",
    });
  }
  return encoder.encode(`${text}\0`);
}

const PAGE = 4096n;

/** The NUL-terminated UTF-8 string at an address; bad bytes become U+FFFD. */
export function readCString(runtime: NativeRuntime, address: bigint): string {
  return decoder.decode(readCBytes(runtime, address));
}

/** A copy of the bytes at an address up to the first NUL. Reads no page beyond the one that holds the NUL. */
export function readCBytes(runtime: NativeRuntime, address: bigint): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let at = address;
  for (;;) {
    const length = Number(PAGE - (at % PAGE));
    const bytes = new Uint8Array(runtime.memory(at, length));
    const end = bytes.indexOf(0);
    if (end >= 0) {
      chunks.push(bytes.subarray(0, end));
      break;
    }
    chunks.push(bytes);
    at += BigInt(length);
  }
  return joined(Uint8Array, chunks);
}
