/**
 * Bytes of a file on a server, by range requests.
 *
 * @module
 */

import { messageOf } from "../../base/error.ts";
import { rethrowDenied } from "../../base/permission.ts";
import { GgufFetchError } from "../errors.ts";
import { inTime } from "../support/in_time.ts";
import type { ByteSource } from "./byte_source.ts";

/** The checked options of a server's file, see GgufOpenOptions. */
export interface HttpSourceOptions {
  /** Stops what is under way. */
  readonly signal: AbortSignal | undefined;
  /** Idle time limit in milliseconds. */
  readonly timeoutMs: number;
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum number of bytes to read and drop from a server that ignores ranges. */
  readonly maxSkippedBytes: number;
}

/** The answer to a request for a part. */
interface Answer {
  /** Offset of its body in the file. */
  readonly start: number;
  /** The size of the file. */
  readonly size: number;
  /** The validator (ETag or date) that detects a changed file. */
  readonly tag: string | null;
  /** Its body. */
  readonly body: ReadableStreamDefaultReader<Uint8Array>;
}

const FIRST_PART = 1 << 16;
const contentRange = /^bytes (\d+)-(\d+)\/(\d+)$/;

/** A file on a server. Only what is read is fetched, where the server heeds ranges; else as much as comes before it, up to a limit. */
export class HttpSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly #request: PartRequest;
  readonly #tag: string | null;
  readonly #start: Uint8Array;

  private constructor(request: PartRequest, { size, tag }: Answer, start: Uint8Array) {
    this.name = request.url.href;
    this.size = size;
    this.#request = request;
    this.#tag = tag;
    this.#start = start;
  }

  /** Asks a server for the start of a file. Throws {@linkcode GgufFetchError} for what is wrong with its answer, and the signal's reason. */
  static async open(url: URL, options: HttpSourceOptions): Promise<HttpSource> {
    const request = new PartRequest(url, options);
    const answer = await request.ask(0, FIRST_PART);
    const start = new Uint8Array(Math.min(FIRST_PART, answer.size));
    await request.fill(answer, start, 0);
    return new HttpSource(request, answer, start);
  }

  /** Reads a part. Throws as {@linkcode HttpSource.open} does. */
  async read(into: Uint8Array, position: number): Promise<void> {
    const known = this.#start.subarray(position, position + into.length);
    into.set(known);
    const rest = into.subarray(known.length);
    if (rest.length === 0) return;
    const answer = await this.#request.ask(position + known.length, rest.length);
    if (answer.size !== this.size || answer.tag !== this.#tag) {
      await answer.body.cancel().catch(() => {});
      refuse(
        this.name,
        "changed while it was read",
        `${answer.size} bytes, ${answer.tag}`,
        `${this.size} bytes, ${this.#tag}`,
      );
    }
    await this.#request.fill(answer, rest, position + known.length);
  }
}

/** Asks a server for parts of a file. */
class PartRequest {
  readonly url: URL;
  readonly #signal: AbortSignal | undefined;
  readonly #timeoutMs: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #maxSkipped: number;

  constructor(url: URL, { signal, timeoutMs, headers, maxSkippedBytes }: HttpSourceOptions) {
    this.url = url;
    this.#signal = signal;
    this.#timeoutMs = timeoutMs;
    this.#maxSkipped = maxSkippedBytes;
    this.#headers = headers;
  }

  /** Asks for a part; the body is still to be read. */
  async ask(position: number, length: number): Promise<Answer> {
    const range = `bytes=${position}-${position + length - 1}`;
    const stop = new AbortController();
    const signal = this.#signal === undefined ? stop.signal : AbortSignal.any([stop.signal, this.#signal]);
    const headers = { ...this.#headers, range, "accept-encoding": "identity" };
    const response = await this.#inTime(fetch(this.url, { headers, signal }), () => stop.abort());
    try {
      return this.#check(response, position);
    } catch (error) {
      await response.body?.cancel().catch(() => {});
      throw error;
    }
  }

  #check(response: Response, position: number): Answer {
    const { status, headers, body } = response;
    const name = this.url.href;
    if (status !== 200 && status !== 206) {
      refuse(name, `was answered with the status ${status} ${response.statusText}`.trimEnd(), status, "206 or 200");
    }
    const encoding = headers.get("content-encoding");
    if (encoding !== null && encoding !== "identity") refuse(name, "comes encoded", encoding, "the bytes as they are");
    if (body === null) refuse(name, "was answered without a body", null, "the bytes of the file");
    const tag = headers.get("etag") ?? headers.get("last-modified");
    if (status === 200) {
      const size = headers.get("content-length");
      if (size === null || !/^\d+$/.test(size)) {
        refuse(name, "comes whole and without its size; download it", size, "ranges, or a content-length");
      }
      return { start: 0, size: checkSize(name, size), tag, body: body.getReader() };
    }
    const said = headers.get("content-range");
    const [, from, , size] = contentRange.exec(said ?? "") ?? [];
    if (from === undefined || size === undefined || Number(from) !== position) {
      refuse(name, "was answered with another part than was asked for", said, `a content-range from byte ${position}`);
    }
    return { start: position, size: checkSize(name, size), tag, body: body.getReader() };
  }

  /** Reads the whole of a part out of an answer's body. */
  async fill({ start, body }: Answer, into: Uint8Array, position: number): Promise<void> {
    let skip = position - start;
    if (skip > this.#maxSkipped) {
      await body.cancel().catch(() => {});
      refuse(this.url.href, `comes whole, and what is wanted is ${skip} bytes into it; download it`, skip, "ranges");
    }
    let done = 0;
    try {
      while (done < into.length) {
        const { value } = await this.#inTime(body.read(), () => {});
        if (value === undefined) {
          refuse(this.url.href, "ended before what was said", done, `${into.length} bytes from byte ${position}`);
        }
        const part = value.subarray(Math.min(skip, value.length), Math.min(skip, value.length) + into.length - done);
        skip -= Math.min(skip, value.length);
        into.set(part, done);
        done += part.length;
      }
    } finally {
      // Not awaited: a server that hangs would keep it.
      body.cancel().catch(() => {});
    }
  }

  /** Rejects with an error when a promise takes longer than the time limit. */
  async #inTime<T>(promise: Promise<T>, stop: () => void): Promise<T> {
    try {
      return await inTime(promise, { timeoutMs: this.#timeoutMs, signal: this.#signal }, () => {
        stop();
        const words = `gave nothing for ${this.#timeoutMs} milliseconds`;
        return problem(this.url.href, words, this.#timeoutMs, "an answer");
      });
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (error instanceof GgufFetchError) throw error;
      rethrowDenied(error, `fetching ${this.url.href}`, `--allow-net=${this.url.host}`);
      const words = messageOf(error);
      throw problem(this.url.href, `can't be fetched (${words})`, this.url.href, "a server that answers", error);
    }
  }
}

function checkSize(name: string, size: string): number {
  if (Number.isSafeInteger(Number(size))) return Number(size);
  return refuse(name, `is said to have ${size} bytes`, size, "a size that can be addressed");
}

function problem(name: string, what: string, value: unknown, expected: string, cause?: unknown): GgufFetchError {
  return new GgufFetchError(`${name} ${what}; check the address and the server`, {
    value,
    expected,
    ...(cause === undefined ? {} : { cause }),
  });
}

function refuse(name: string, what: string, value: unknown, expected: string): never {
  throw problem(name, what, value, expected);
}
