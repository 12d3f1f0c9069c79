/**
 * A file on a server: what its answers say, and whether they are about the same file.
 *
 * @module
 */

import type { Answer } from "./request.ts";
import { ChangedError, downloadError, RetryableError } from "./errors.ts";

/** What is known of a file on a server before its bytes are. */
export interface RemoteFile {
  /** Its size in bytes. */
  readonly size: number;
  /** ETag or date, which change with the file; `null` when the server gives neither. */
  readonly tag: string | null;
  /** SHA-256 in hex, where the server tells it. */
  readonly sha256: string | null;
  /** Whether the server gives parts of it. */
  readonly ranges: boolean;
}

const contentRange = /^bytes (\d+)-(\d+)\/(\d+|\*)$/;

/** Where the body of an answer begins, and the size of the file; `undefined` where the server doesn't say it. */
export function placeOf(url: URL, { status, headers }: Answer): { start: number; size: number | undefined } {
  if (status === 200) return { start: 0, size: sizeOf(headers.get("content-length")) };
  const said = headers.get("content-range");
  const [, from, to, size] = contentRange.exec(said ?? "") ?? [];
  const start = Number(from);
  if (from === undefined || !Number.isSafeInteger(start) || Number(to) < start || start >= (sizeOf(size) ?? Infinity)) {
    throw new RetryableError(
      downloadError(url, "the server gives a part and doesn't say which", {
        value: said,
        expected: "a content-range such as bytes 0-99/1000",
      }),
    );
  }
  return { start, size: sizeOf(size) };
}

function sizeOf(text: string | null | undefined): number | undefined {
  const size = text !== null && text !== undefined && /^\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(size) ? size : undefined;
}

/** Reads what the first answer says; `undefined` when it doesn't say the size. Throws ModelDownloadError for a page. */
export function remoteFile(url: URL, answer: Answer): RemoteFile | undefined {
  const type = answer.headers.get("content-type") ?? "";
  if (/^(text\/html|application\/xhtml)/i.test(type)) {
    throw downloadError(url, "it is an HTML page", {
      value: type,
      expected: "a model",
      cure: "give the address of the file itself, which on the hub has /resolve/ in it instead of /blob/",
    });
  }
  const { size } = placeOf(url, answer);
  if (size === undefined) return undefined;
  return { size, tag: tagOf(answer), sha256: sha256Of(answer), ranges: answer.status === 206 };
}

function tagOf({ headers, linked }: Answer): string | null {
  return linked.etag ?? headers.get("etag") ?? headers.get("last-modified");
}

/** The hub's ETag of a large file is its hash. */
function sha256Of({ linked }: Answer): string | null {
  return /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(linked.etag ?? "")?.[1] ?? null;
}

/** Throws ChangedError for an answer about another file than before. */
export function checkSame(url: URL, known: RemoteFile, answer: Answer): void {
  const { size } = placeOf(url, answer);
  if ((size === undefined || size === known.size) && tagOf(answer) === known.tag) return;
  throw new ChangedError(`${size} bytes ${tagOf(answer)}, before ${known.size} bytes ${known.tag}`);
}
