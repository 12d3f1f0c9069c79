/**
 * The vocabulary that a whisper model file carries.
 *
 * @module
 */

import { ConversionError } from "./errors.ts";
import { type FileParts, readText } from "./parts.ts";

/** Tokens that the file names; whisper.cpp knows the others by their numbers. */
export const BASE_TOKENS = 50_257;

/**
 * Reads the tokens of a vocabulary as bytes, by number: `vocabulary.txt` (a line each), `vocabulary.json` (an array), `vocab.json` (numbers by token) or
 * `tokenizer.json`.
 *
 * Throws {@linkcode ConversionError} when it is none of them or has too few tokens.
 */
export async function readVocabulary(file: FileParts): Promise<Uint8Array[]> {
  const tokens = parse(await readText("a vocabulary", file));
  return Array.from({ length: BASE_TOKENS }, (_, id) => {
    const token = tokens[id];
    if (token !== undefined) return tokenBytes(token);
    throw new ConversionError(
      `the vocabulary has no token ${id}; give the vocabulary of a Whisper model, which has at least ${BASE_TOKENS}`,
      { value: tokens.length, expected: `${BASE_TOKENS} tokens` },
    );
  });
}

function parse(text: string): (string | undefined)[] {
  if (!/^\s*(\[\s*"|\{)/.test(text)) return text.split(/\r?\n/);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The first lines of a vocabulary.txt may look like JSON.
    return text.split(/\r?\n/);
  }
  if (Array.isArray(value)) return value.map((one) => typeof one === "string" ? one : undefined);
  const { model, added_tokens: added } = value as {
    model?: { vocab?: Record<string, unknown> };
    added_tokens?: { id?: unknown; content?: unknown }[];
  };
  const tokens: (string | undefined)[] = [];
  const set = (token: unknown, id: unknown) => {
    if (typeof token === "string" && Number.isSafeInteger(id) && Number(id) >= 0 && Number(id) < 1 << 20) {
      tokens[Number(id)] = token;
    }
  };
  for (const [token, id] of Object.entries(model?.vocab ?? value as object)) set(token, id);
  if (Array.isArray(added)) { for (const one of added) set(one?.content, one?.id); }
  return tokens;
}

/** The byte that each character stands for; 0 for none, else one more than the byte. */
const byteOf: Uint16Array = byteDecoder();

const encoder = new TextEncoder();

/** Tokens are written with one printable character for each byte. */
function tokenBytes(token: string): Uint8Array {
  if (token.startsWith("<|") && token.endsWith("|>")) return encoder.encode(token);
  const bytes = new Uint8Array(token.length);
  for (let at = 0; at < token.length; at++) {
    const byte = byteOf[token.charCodeAt(at)] ?? 0;
    if (byte === 0) refuseCharacter(token, token.codePointAt(at) ?? 0);
    bytes[at] = byte - 1;
  }
  return bytes;
}

function refuseCharacter(token: string, point: number): never {
  throw new ConversionError(
    `the token ${JSON.stringify(token)} has the character ${
      JSON.stringify(String.fromCodePoint(point))
    }, which stands for no byte; give the vocabulary of a Whisper model`,
    { value: token, expected: "a byte-level vocabulary" },
  );
}

function byteDecoder(): Uint16Array {
  const printable = (byte: number) => byte >= 33 && byte <= 126 || byte >= 161 && byte <= 172 || byte >= 174;
  const decoder = new Uint16Array(512);
  let next = 256;
  for (let byte = 0; byte < 256; byte++) decoder[printable(byte) ? byte : next++] = byte + 1;
  return decoder;
}
