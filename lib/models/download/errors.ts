import { ModelDownloadError } from "../../errors.ts";

/** A failure that another attempt may not meet. */
export class RetryableError extends Error {
  /** The error for the caller when no attempt succeeds. */
  readonly shown: ModelDownloadError;
  /** The wait in milliseconds that the server asks for. */
  readonly waitMs: number | undefined;

  constructor(shown: ModelDownloadError, waitMs?: number) {
    super(shown.message, { cause: shown });
    this.shown = shown;
    this.waitMs = waitMs;
  }
}

/** The file on the server is another one than at the start. */
export class ChangedError extends Error {}

/** An address as messages show it: without a query, which may be a secret. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

/** Makes the error of a download. */
export function downloadError(
  url: URL,
  reason: string,
  { value, expected, cure = "try again later", cause }: {
    value: unknown;
    expected: string;
    cure?: string;
    cause?: unknown;
  },
): ModelDownloadError {
  return new ModelDownloadError(`${shownUrl(url)} can't be downloaded: ${reason}; ${cure}`, {
    value,
    expected,
    ...(cause === undefined ? {} : { cause }),
  });
}
