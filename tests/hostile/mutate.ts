/** Damages valid inputs: always the same way for the same random numbers. */

import { joined } from "../../ffi/memory/concat.ts";

type Below = (limit: number) => number;

const extremes = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 16, 255, 4096];

/** Bytes with something wrong. A third have one aligned number set to an extreme, as if a field had been written wrongly; the rest are changed anywhere. */
export function mutateBytes(bytes: Uint8Array, below: Below, headerBytes = bytes.length): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  const place = (): number =>
    below(3) === 0 ? below(bytes.length) : below(Math.max(1, Math.min(headerBytes, bytes.length)));
  switch (below(9)) {
    case 0:
    case 1:
    case 2: {
      const view = new DataView(copy.buffer);
      const at = Math.min(place() & ~3, Math.max(0, bytes.length - 8));
      const value = extremes[below(extremes.length)] ?? 0;
      if (bytes.length < 8) copy[0] = value;
      else if (below(2) === 0) view.setUint32(at, value, true);
      else view.setBigUint64(at, below(2) === 0 ? BigInt(value) : (1n << BigInt(below(64))) - 1n, true);
      return copy;
    }
    case 3:
      return copy.slice(0, below(bytes.length + 1));
    case 4:
      return copy.slice(below(Math.min(64, bytes.length)));
    case 5: {
      const [at, length] = [place(), 1 + below(64)];
      return joined(Uint8Array, [
        copy.subarray(0, at),
        Uint8Array.from({ length }, () => below(256)),
        copy.subarray(at),
      ]);
    }
    case 6: {
      const [at, length] = [place(), 1 + below(64)];
      return joined(Uint8Array, [copy.subarray(0, at), copy.subarray(at + length)]);
    }
    case 7:
      return Uint8Array.from({ length: below(512) }, () => below(256));
    default:
      for (let left = 1 + below(8); left > 0; left--) copy[place()] = below(256);
      return copy;
  }
}

/** Text with something wrong: characters left out, put in twice, exchanged, or strange ones put in. */
export function mutateText(text: string, below: Below, words: readonly string[]): string {
  const characters = [...text];
  for (let left = 1 + below(3); left > 0; left--) {
    const at = below(characters.length + 1);
    const length = 1 + below(6);
    switch (below(8)) {
      case 0:
        characters.splice(at, length);
        break;
      case 1:
        characters.splice(at, 0, ...characters.slice(at, at + length));
        break;
      case 2:
        characters.splice(at, 0, words[below(words.length)] ?? "");
        break;
      case 3:
        characters.splice(at, 1, String.fromCodePoint(below(2) === 0 ? below(0x80) : below(0xd800)));
        break;
      case 4:
        characters.splice(
          at,
          0,
          ...Array.from({ length: below(4) === 0 ? 3000 : 3 }, () => words[below(words.length)] ?? ""),
        );
        break;
      case 5:
        characters.splice(at);
        break;
      default:
        characters[at] = characters[below(characters.length)] ?? "";
    }
  }
  return characters.join("");
}

/** Text of a language with something wrong in its words: some left out, put in twice, exchanged with others, or with words of the language. */
export function mutateWords(text: string, below: Below, words: readonly string[]): string {
  const parts = text.match(/\w+|\s+|[^\w\s]/gu) ?? [];
  for (let left = 1 + below(2); left > 0; left--) {
    const [at, other] = [below(parts.length + 1), below(parts.length + 1)];
    switch (below(6)) {
      case 0:
        parts.splice(at, 1);
        break;
      case 1:
        parts.splice(at, 0, ...parts.slice(other, other + 1 + below(12)));
        break;
      case 2:
        parts.splice(at, 1, parts[other] ?? "");
        break;
      case 3:
        parts.splice(at, 1, words[below(words.length)] ?? "");
        break;
      case 4:
        parts.splice(at, 1, NUMBERS[below(NUMBERS.length)] ?? "");
        break;
      default:
        [parts[at], parts[other]] = [parts[other] ?? "", parts[at] ?? ""];
    }
  }
  return parts.join("");
}

/** Numbers as a text may have them. */
const NUMBERS = ["0", "-1", "1e999", "00", "4294967296", "9223372036854775808", "0.1", "1e-400", "9".repeat(400)];

/** A JSON value with one to three parts changed, as {@linkcode mutateJsonOnce} does, or keywords put in. */
export function mutateJson(
  value: unknown,
  below: Below,
  others: readonly unknown[],
  keywords: readonly string[],
): unknown {
  let copy = value;
  for (let left = 1 + below(3); left > 0; left--) {
    copy = below(3) === 0 ? withKeyword(copy, below, others, keywords) : mutateJsonOnce(copy, below, others);
  }
  return copy;
}

/** A JSON value with a keyword in one of its objects, whose value is one of the others, a part of the value, or the whole. */
function withKeyword(value: unknown, below: Below, others: readonly unknown[], keywords: readonly string[]): unknown {
  const copy = structuredClone(value);
  const objects: Record<string, unknown>[] = [];
  const visit = (one: unknown): void => {
    if (typeof one !== "object" || one === null) return;
    if (!Array.isArray(one)) objects.push(one as Record<string, unknown>);
    Object.values(one).forEach(visit);
  };
  visit(copy);
  const holder = objects[below(objects.length || 1)];
  if (holder === undefined) return copy;
  const values = [others[below(others.length)], objects[below(objects.length)], value];
  holder[keywords[below(keywords.length)] ?? ""] = structuredClone(values[below(values.length)]);
  return copy;
}

/** A JSON value with one part exchanged for another value, or left out. */
function mutateJsonOnce(value: unknown, below: Below, others: readonly unknown[]): unknown {
  const copy = structuredClone(value);
  const parents: { readonly holder: Record<string, unknown>; readonly key: string }[] = [];
  const visit = (one: unknown): void => {
    if (typeof one !== "object" || one === null) return;
    for (const key of Object.keys(one)) {
      parents.push({ holder: one as Record<string, unknown>, key });
      visit((one as Record<string, unknown>)[key]);
    }
  };
  visit(copy);
  const place = parents[below(parents.length)];
  if (place === undefined) return others[below(others.length)];
  const { holder, key } = place;
  const [removed, renamed] = [below(4) === 0, below(4) === 0];
  if (removed) delete holder[key];
  else if (renamed) holder[String(others[below(others.length)])] = holder[key];
  else holder[key] = structuredClone(others[below(others.length)]);
  return copy;
}
