/** Signatures of files that are often mistaken for GGUF models, with a hint for each. */
const KINDS: readonly { readonly pattern: RegExp; readonly what: string; readonly cure: string }[] = [
  {
    pattern: /^version https:\/\/git-lfs\.github\.com/,
    what: "a Git LFS pointer, a few lines of text that stand for the file",
    cure: "run `git lfs pull` in the clone, or download the file itself",
  },
  {
    pattern: /^\s*(<!doctype html|<html|<head)/i,
    what: "an HTML page",
    cure: "download the file itself: its address on the hub has /resolve/ in it instead of /blob/",
  },
  {
    pattern: /^lmgg/,
    what: "a Whisper model in whisper.cpp's format",
    cure: "load it by loadWhisper",
  },
  // The length of the header in eight bytes, then JSON.
  {
    pattern: /^[^]{4}\0{4}\{"/,
    what: "a safetensors file",
    cure: "convert it to GGUF, or download a GGUF version of the model",
  },
  { pattern: /^PK/, what: "a ZIP archive, such as a PyTorch checkpoint", cure: "convert it to GGUF" },
  // deno-lint-ignore no-control-regex
  { pattern: /^\x1f\x8b/, what: "packed by gzip", cure: "unpack it" },
  { pattern: /^\s*<\?xml/, what: "an XML document, often a server's error", cure: "download the file again" },
  { pattern: /^\s*\{/, what: "a JSON document, often a server's error", cure: "download the file again" },
  { pattern: /^(ggla|tjgg|fmgg)/, what: "a GGML file of the time before GGUF", cure: "convert it, or get a GGUF" },
];

/** How many bytes of a file {@linkcode fileKind} wants. */
export const KIND_BYTES = 64;

/** Tells what a file is by its first bytes; `undefined` for what isn't known. */
export function fileKind(start: Uint8Array): { readonly what: string; readonly cure: string } | undefined {
  const text = String.fromCharCode(...start.subarray(0, KIND_BYTES));
  return KINDS.find(({ pattern }) => pattern.test(text));
}
