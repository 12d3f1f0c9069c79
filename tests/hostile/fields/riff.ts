import type { Fields } from "./field.ts";
import { Walker } from "./walker.ts";

/** Samples that count as fields. */
const SHOWN = 8;

/** The fields of a WAV file: its chunks' names and lengths, the format, the long sizes, the first samples. */
export function riffFields(bytes: Uint8Array<ArrayBuffer>): Fields {
  const walker = new Walker(bytes);
  walker.text(4);
  walker.u32();
  walker.text(4);
  while (walker.has(8)) {
    const id = walker.text(4);
    const length = Math.min(walker.u32(), bytes.length - walker.at);
    const end = walker.at + length + length % 2;
    if (id === "fmt ") {
      walker.skip(2, 2);
      walker.skip(4, 2);
      walker.skip(2, (length - 12) / 2);
    } else if (id === "ds64") walker.skip(8, Math.floor(length / 8));
    else walker.skip(4, Math.min(SHOWN, Math.floor(length / 4)), true);
    walker.at = end;
  }
  return { numbers: walker.numbers, texts: walker.texts };
}
