import { guardOf, type Native } from "../native.ts";
import type { Pointer } from "../types/pointer.ts";
import { structLayout } from "../tables.ts";

/** The number of bytes of an object that are searched: a `whisper_state` begins with tens of thousands of bytes of decoders. */
const REACH = 1 << 17;
/** More backends than these are in no list. */
const MAX_BACKENDS = 16;
/** The offset of the list in the last object: the first one to look at. */
let lastIndex = 0;

/**
 * Finds the backend of the same kind and device as `sample` in an opaque object of the libraries that holds its backends as a `std::vector<ggml_backend_t>`,
 * as `whisper_state` does, and has no function that gives them. A backend is told by all that two of a kind share: its guid, its functions and its device.
 * Memory is read by the system, which refuses what isn't there; `undefined` where it doesn't (other systems than Linux), and where there is none.
 */
export function findBackend(
  native: Native,
  object: Pointer,
  sample: Pointer<"ggml_backend">,
): Pointer<"ggml_backend"> | undefined {
  const linux = guardOf(native)?.linux;
  const bytes = structLayout("ggml_backend").size - 8;
  const wanted = linux?.peek(sample, bytes);
  const words = wordsOf(linux?.peek(object, REACH));
  if (linux === undefined || wanted === undefined) return undefined;
  const look = (index: number): Pointer<"ggml_backend"> | undefined => {
    const [first, end, limit] = [words[index], words[index + 1], words[index + 2]];
    if (first === undefined || end === undefined || limit === undefined || !isVector(first, end, limit)) {
      return undefined;
    }
    const list = wordsOf(linux.peek(first, Number(end - first)));
    return list.find((backend) => equal(linux.peek(backend, bytes), wanted)) as Pointer<"ggml_backend"> | undefined;
  };
  const known = look(lastIndex);
  if (known !== undefined) return known;
  for (let index = 0; index < words.length; index++) {
    const found = look(index);
    if (found === undefined) continue;
    lastIndex = index;
    return found;
  }
  return undefined;
}

/** Whether three words may be the start, the end and the limit of a vector of pointers. */
function isVector(first: bigint, end: bigint, limit: bigint): boolean {
  const bytes = end - first;
  return first > 0xffffn && bytes >= 8n && bytes <= BigInt(MAX_BACKENDS * 8) && bytes % 8n === 0n && limit >= end &&
    first % 8n === 0n;
}

function wordsOf(bytes: Uint8Array<ArrayBuffer> | undefined): BigUint64Array {
  return bytes === undefined ? new BigUint64Array(0) : new BigUint64Array(bytes.buffer, 0, bytes.length >> 3);
}

function equal(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length === b.length && a.every((byte, index) => byte === b[index]);
}
