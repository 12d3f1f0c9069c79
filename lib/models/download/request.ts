/**
 * One request of a download: redirects, secrets that stay with their host, time limits, and what each status means.
 *
 * @module
 */

import { rethrowDenied } from "../../../base/permission.ts";
import { ModelDownloadError } from "../../errors.ts";
import { inTime } from "../../support/in_time.ts";
import { ChangedError, downloadError, RetryableError } from "./errors.ts";
import { checkProtocol } from "./protocol.ts";

/** What each request of a download heeds. */
export interface RequestSettings {
  /** Stops it. */
  readonly signal: AbortSignal | undefined;
  /** The longest time in milliseconds in which a server sends nothing. */
  readonly timeoutMs: number;
  /** Headers for the host of the address; no other host gets them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether other hosts than this machine may be asked over `http:`. */
  readonly allowHttp: boolean;
}

/** An answer with status 200 or 206; its body is still to be read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Headers of the first answer that had them: of a redirect, the hub tells the file's hash and size there. */
  readonly linked: { readonly etag: string | null; readonly size: string | null; readonly commit: string | null };
  readonly body: ReadableStreamDefaultReader<Uint8Array>;
}

const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses that another attempt may not meet. */
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Asks for a file, or for a part of it.
 *
 * Throws RetryableError, {@linkcode ModelDownloadError} for what stays as it is, PermissionError, and the signal's reason.
 */
export async function request(start: URL, range: string | undefined, settings: RequestSettings): Promise<Answer> {
  let url = start;
  let linked: Answer["linked"] | undefined;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    checkProtocol(url, settings.allowHttp);
    const headers = { ...(url.origin === start.origin ? settings.headers : {}), ...ownHeaders(range) };
    const response = await fetchOnce(url, headers, settings);
    linked ??= linkedHeaders(response.headers);
    if (!REDIRECTS.has(response.status)) return checked(start, response, linked);
    // Not awaited: a server that hangs would keep it.
    response.body?.cancel().catch(() => {});
    url = nextUrl(url, response.headers.get("location"));
  }
  throw downloadError(start, `it redirects more than ${MAX_REDIRECTS} times`, {
    value: url.href,
    expected: `at most ${MAX_REDIRECTS} redirects`,
    cure: "check the address",
  });
}

/** Reads the next piece of a body; `undefined` at its end. Throws as {@linkcode request} does. */
export async function readPiece(
  url: URL,
  body: ReadableStreamDefaultReader<Uint8Array>,
  settings: RequestSettings,
): Promise<Uint8Array | undefined> {
  try {
    return (await inTime(body.read(), settings, () => late(url, settings))).value;
  } catch (error) {
    throw requestError(url, error, settings);
  }
}

function ownHeaders(range: string | undefined): Record<string, string> {
  // Not packed: the numbers of a range are those of the file.
  return { "accept-encoding": "identity", ...(range === undefined ? {} : { range }) };
}

async function fetchOnce(url: URL, headers: Record<string, string>, settings: RequestSettings): Promise<Response> {
  const stop = new AbortController();
  const signal = settings.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, settings.signal]);
  const answer = fetch(url, { headers, signal, redirect: "manual" });
  try {
    return await inTime(answer, settings, () => {
      stop.abort();
      return late(url, settings);
    });
  } catch (error) {
    throw requestError(url, error, settings);
  }
}

function late(url: URL, { timeoutMs }: RequestSettings): RetryableError {
  const reason = `the server sent nothing for ${timeoutMs} milliseconds`;
  return new RetryableError(downloadError(url, reason, { value: timeoutMs, expected: "an answer" }));
}

function requestError(url: URL, error: unknown, { signal }: RequestSettings): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof RetryableError || error instanceof ModelDownloadError) return error;
  rethrowDenied(error, `fetching ${url.host}`, `--allow-net=${url.host}`);
  const reason = error instanceof Error ? error.message : String(error);
  return new RetryableError(
    downloadError(url, reason, { value: url.host, expected: "a server that answers", cause: error }),
  );
}

function nextUrl(url: URL, location: string | null): URL {
  const next = location === null ? null : URL.parse(location, url);
  if (next !== null) return next;
  throw downloadError(url, "it redirects to no address", {
    value: location,
    expected: "a location",
    cure: "check the address",
  });
}

function linkedHeaders(headers: Headers): Answer["linked"] | undefined {
  const [etag, size, commit] = ["x-linked-etag", "x-linked-size", "x-repo-commit"].map((name) => headers.get(name));
  if (etag === null || etag === undefined) return undefined;
  return { etag, size: size ?? null, commit: commit ?? null };
}

function checked(url: URL, response: Response, linked: Answer["linked"] | undefined): Answer {
  const { status, headers, body } = response;
  if ((status !== 200 && status !== 206) || body === null) {
    const error = refusal(url, response);
    body?.cancel().catch(() => {});
    throw error;
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    body.cancel().catch(() => {});
    throw downloadError(url, `the server packs it (${encoding}), though it was asked not to`, {
      value: encoding,
      expected: "the bytes as they are",
      cure: "give another address",
    });
  }
  return {
    status,
    headers,
    linked: linked ?? { etag: null, size: null, commit: null },
    body: body.getReader(),
  };
}

/** The meaning of a status that gives no file. */
function refusal(url: URL, { status, statusText, headers }: Response): Error {
  const answered = `the server answered ${status} ${statusText}`.trimEnd();
  if (status === 416) return new ChangedError(answered);
  const details = { value: status, expected: "status 200 or 206" };
  if (status === 401 || status === 403) {
    return downloadError(url, answered, {
      ...details,
      cure: "it wants a token that may read this file: set HF_TOKEN for the hub, or give headers",
    });
  }
  if (status === 404 || status === 410) return downloadError(url, answered, { ...details, cure: "check the address" });
  if (!TRANSIENT.has(status)) return downloadError(url, answered, details);
  return new RetryableError(downloadError(url, answered, details), retryAfter(headers.get("retry-after")));
}

/** A Retry-After in milliseconds: seconds or a date. */
function retryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
