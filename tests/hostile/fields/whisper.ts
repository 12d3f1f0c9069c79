import type { Fields } from "./field.ts";
import { Walker } from "./walker.ts";

/** The numbers behind the magic. */
const NUMBERS = 11;
/** Values of the filters, and tokens, that count as fields. */
const SHOWN = 8;

/** The fields of a model in whisper.cpp's format: its numbers, filters, tokens, and the names, dimensions, types and first weights of its tensors. */
export function whisperFields(bytes: Uint8Array<ArrayBuffer>): Fields {
  const walker = new Walker(bytes);
  walker.text(4);
  walker.skip(4, NUMBERS);
  const filters = walker.u32() * walker.u32();
  walker.skip(4, SHOWN, true);
  walker.at += 4 * (filters - SHOWN);
  const tokens = walker.u32();
  for (let index = 0; index < tokens; index++) {
    const length = new DataView(bytes.buffer).getUint32(walker.at, true);
    if (index >= SHOWN) walker.at += 4 + length;
    else walker.text(walker.u32());
  }
  while (walker.has(12)) {
    const [dimensions, length, type] = [walker.u32(), walker.u32(), walker.u32()];
    let elements = 1;
    for (let left = dimensions; left > 0; left--) elements *= walker.u32();
    walker.text(length);
    const size = type === 1 ? 2 : 4;
    walker.skip(size, 1, true);
    walker.at += size * (elements - 1);
  }
  return { numbers: walker.numbers, texts: walker.texts };
}
