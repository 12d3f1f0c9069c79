/**
 * What a model is loaded from.
 *
 * @module
 */

import { checkInteger, checkOptions, isInstance, isPlainObject, refuse } from "../../base/check.ts";
import { type HubReference, parseHubReference } from "./hub/reference.ts";
import { modelPath } from "./model_path.ts";

/** An open file that a model lies in. It stays the caller's, with its position. */
export interface DescriptorSource {
  /** The system's number of the open file, as `node:fs` has it. */
  readonly fd: number;
  /** Offset of the model in bytes from the start of the file. Default 0. */
  readonly offset?: number | undefined;
}

/**
 * What a model is loaded from:
 *
 * - a path, or a `file:` URL; of a model in several files the first;
 * - an `https:` URL, which is downloaded into the cache once; of a model in several files the first;
 * - `hf:owner/repo[@revision][/path/file.gguf]` or `hf:owner/repo[@revision]:Q4_K_M`, a file on the Hugging Face Hub, downloaded into the cache once. Without a
 *   file or a quantization it is the file of Q4_K_M or, if there is but one, that one;
 * - `{ fd, offset }`, an open file;
 * - its bytes, or a Blob.
 */
export type ModelSource = string | URL | DescriptorSource | Uint8Array | ArrayBuffer | Blob;

/** A source, checked. */
export type CheckedSource =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "web"; readonly url: URL }
  | { readonly kind: "hub"; readonly reference: HubReference }
  | { readonly kind: "descriptor"; readonly fd: number; readonly offset: number }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "blob"; readonly blob: Blob };

/** The words for what a source may be. */
export const SOURCE_WORDS = "a path, a file: or https: URL, hf:owner/repo, { fd }, bytes or a Blob";

/** Checks a source. Throws {@linkcode InvalidArgumentError}. */
export function checkSource(source: unknown, name: string = "the model"): CheckedSource {
  if (isInstance(source, Uint8Array)) return { kind: "bytes", bytes: source };
  if (isInstance(source, ArrayBuffer)) return { kind: "bytes", bytes: new Uint8Array(source) };
  if (isInstance(source, Blob)) return { kind: "blob", blob: source };
  if (isInstance(source, URL)) {
    return addressSource(source.href, name) ?? { kind: "file", path: modelPath(source, name) };
  }
  if (typeof source === "string") return addressSource(source, name) ?? { kind: "file", path: modelPath(source, name) };
  if (isPlainObject(source)) return descriptorSource(source, name);
  return refuse(name, source, SOURCE_WORDS);
}

/** Checks the address of a model to download: of the hub, or `https:`. Throws {@linkcode InvalidArgumentError}. */
export function checkAddress(
  source: unknown,
  name: string = "the model",
): Extract<CheckedSource, { kind: "web" | "hub" }> {
  const text = isInstance(source, URL) ? source.href : source;
  const found = typeof text === "string" ? addressSource(text, name) : undefined;
  return found ?? refuse(name, source, "an https: URL, or hf:owner/repo");
}

function addressSource(text: string, name: string): Extract<CheckedSource, { kind: "web" | "hub" }> | undefined {
  if (/^hf:/i.test(text)) return { kind: "hub", reference: parseHubReference(text, name) };
  if (!/^https?:/i.test(text)) return undefined;
  const url = URL.parse(text) ?? refuse(name, text, "a valid URL");
  if (url.username !== "" || url.password !== "") {
    refuse(name, url.host, "a URL without a password; give headers instead");
  }
  url.hash = "";
  return { kind: "web", url };
}

function descriptorSource(source: object, name: string): CheckedSource {
  const { fd, offset = 0 } = checkOptions<{ fd?: unknown; offset?: unknown }>(name, source, ["fd", "offset"]);
  return {
    kind: "descriptor",
    fd: checkInteger(`${name}.fd`, fd, { min: 0, max: 0x7fff_ffff }),
    offset: checkInteger(`${name}.offset`, offset, { min: 0, max: Number.MAX_SAFE_INTEGER }),
  };
}
