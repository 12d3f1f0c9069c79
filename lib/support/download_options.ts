/**
 * The options of downloading a model.
 *
 * @module
 */

import {
  boolean,
  callback,
  custom,
  integer,
  options,
  type RulesOf,
  type Settings,
  signal,
} from "../../base/options.ts";
import { isPlainObject, refuse } from "../../base/check.ts";

/** How far a download is. */
export interface DownloadProgress {
  /** Name of the file. */
  readonly file: string;
  /** Bytes that are there; more than 0 at once where an earlier download was cut. */
  readonly receivedBytes: number;
  /** Bytes in all. */
  readonly totalBytes: number;
  /** The rate of the last seconds; 0 at first. */
  readonly bytesPerSecond: number;
  /** Estimated time left in seconds; `undefined` while the rate isn't known. */
  readonly secondsLeft: number | undefined;
}

/** Options of a model that has to be downloaded. */
export interface DownloadOptions {
  /** Called while it downloads, at most ten times a second. An exception that it throws stops the download, and is what it rejects with. */
  onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** Headers for the server, such as `authorization`. No other host gets them, wherever it redirects to. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Requests at once: 1 to 16, default 4. */
  connections?: number | undefined;
  /** The longest time in milliseconds in which a server sends nothing: 1 to 2,147,483,647, default 30,000. */
  timeoutMs?: number | undefined;
  /** Allows `http:` addresses of other machines, which anybody on the way can change. Default false. */
  allowHttp?: boolean | undefined;
}

const headersOption = custom<Readonly<Record<string, string>>, { default: Readonly<Record<string, string>> }>(
  "an object of texts",
  (name, value) => {
    if (!isPlainObject(value)) return refuse(name, value, "an object of texts");
    try {
      return Object.fromEntries(new Headers(value as Record<string, string>));
    } catch {
      return refuse(name, value, "valid headers");
    }
  },
  { default: {} },
);

const DEFAULT_TIMEOUT_MS = 30_000;

/** {@linkcode DownloadOptions}, declared. */
const downloadRules = {
  onProgress: callback<(progress: DownloadProgress) => void>(),
  headers: headersOption,
  connections: integer({ min: 1, max: 16, default: 4 }),
  timeoutMs: integer({ min: 1, max: 0x7fff_ffff, default: DEFAULT_TIMEOUT_MS }),
  allowHttp: boolean({ default: false }),
} as const satisfies RulesOf<DownloadOptions>;

/** The specification of {@linkcode DownloadOptions}, as an option of others. */
export const downloadSpec = options("download", downloadRules);

/** Options of `pullModel`. */
export interface PullOptions extends DownloadOptions {
  /** Stops it; it then rejects with the signal's reason, and continues from there the next time. */
  signal?: AbortSignal | undefined;
}

/** The specification of {@linkcode PullOptions}. */
export const pullSpec = options(
  "pullModel",
  { ...downloadRules, signal: signal() } as const satisfies RulesOf<PullOptions>,
);

/** {@linkcode PullOptions}, checked. */
export type PullSettings = Settings<typeof pullSpec>;
