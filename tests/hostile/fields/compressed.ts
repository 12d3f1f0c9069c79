/** Beginnings of compressed recordings, as far as they tell what they are, and their fields. */

import type { Fields } from "./field.ts";

/** A beginning and its fields. */
export interface Beginning {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fields: Fields;
}

/** FLAC: STREAMINFO of 16 kHz and one channel, a comment, a frame's beginning. */
const flac = "664c6143" + "00000022" + "1000100000000e00001003e800f000000640" + "00".repeat(16) +
  "84000004" + "00000000" + "fff8c9080000";
/** Ogg: a page of 30 bytes with Vorbis' identification. */
const ogg = "4f676753000200000000000000000100000000000000aabbccdd011e" + "01766f72626973" +
  "00000000" + "01" + "803e0000" + "00000000" + "007d0000" + "00000000" + "b801";
/** MP3: ID3 with one frame, then two frames' headers. */
const mp3 = "49443304000000000015" + "54495432" + "00000005" + "0000" + "0374657374" + "0000000000" + "fffb9064" +
  "00".repeat(413) + "fffb9064" + "00".repeat(64);

/** One of each. Every byte of the head is a field, and every aligned number. */
export const compressedRecordings: readonly Beginning[] = [flac, ogg, mp3].map((hex) => {
  const bytes = Uint8Array.fromHex(hex);
  const head = Math.min(bytes.length, 64);
  const bytewise = Array.from({ length: head }, (_, at) => ({ at, size: 1 as const }));
  const words = Array.from({ length: Math.floor(head / 4) }, (_, index) => ({ at: 4 * index, size: 4 as const }));
  return { bytes, fields: { numbers: [...bytewise, ...words], texts: [{ at: 0, length: 4 }] } };
});
