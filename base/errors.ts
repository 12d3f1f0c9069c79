/**
 * The errors that more than one part of the library throws, and those of native code.
 *
 * @module
 */

import { GgmlError, registerErrors } from "./error.ts";

export { GgmlError, type GgmlErrorDetails, type SerializedError } from "./error.ts";

/** No set of libraries was found, or a file of the set is missing. */
export class LibraryNotFoundError extends GgmlError {
  /** `LIBRARY_NOT_FOUND`. */
  static override readonly code: string = "LIBRARY_NOT_FOUND";
}

/** The libraries couldn't be fetched, or not be put into the cache: the message says why. */
export class LibraryDownloadError extends GgmlError {
  /** `LIBRARY_DOWNLOAD`. */
  static override readonly code: string = "LIBRARY_DOWNLOAD";
}

/** The system refused to open a library: `cause` has its message. */
export class LibraryOpenError extends GgmlError {
  /** `LIBRARY_OPEN_FAILED`. */
  static override readonly code: string = "LIBRARY_OPEN_FAILED";
}

/** A library's version differs from the one that the function tables were made for. */
export class LibraryVersionError extends GgmlError {
  /** `LIBRARY_VERSION`. */
  static override readonly code: string = "LIBRARY_VERSION";
}

/** A library file isn't the one that its manifest describes. */
export class LibraryHashError extends GgmlError {
  /** `LIBRARY_HASH`. */
  static override readonly code: string = "LIBRARY_HASH";
}

/** A manifest can't be read, or contradicts itself. */
export class ManifestError extends GgmlError {
  /** `MANIFEST`. */
  static override readonly code: string = "MANIFEST";
}

/** The opened libraries don't export a function. */
export class SymbolNotFoundError extends GgmlError {
  /** `SYMBOL_NOT_FOUND`. */
  static override readonly code: string = "SYMBOL_NOT_FOUND";
}

/** This runtime can't express the signature of a function; the message names the replacement. */
export class UnsupportedSignatureError extends GgmlError {
  /** `UNSUPPORTED_SIGNATURE`. */
  static override readonly code: string = "UNSUPPORTED_SIGNATURE";
}

/** The library doesn't support this system, processor or runtime. */
export class UnsupportedPlatformError extends GgmlError {
  /** `UNSUPPORTED_PLATFORM`. */
  static override readonly code: string = "UNSUPPORTED_PLATFORM";
}

/** The runtime's own permissions forbid what is needed: `expected` names the flag. */
export class PermissionError extends GgmlError {
  /** `PERMISSION`. */
  static override readonly code: string = "PERMISSION";
}

/** An argument is out of its range or of the wrong kind. */
export class InvalidArgumentError extends GgmlError {
  /** `INVALID_ARGUMENT`. */
  static override readonly code: string = "INVALID_ARGUMENT";
}

/** An object was used after it was disposed. */
export class DisposedError extends GgmlError {
  /** `DISPOSED`. */
  static override readonly code: string = "DISPOSED";
}

/** Thrown inside a task whose request was cancelled. The caller gets the reason of its signal instead. */
export class CancelledError extends GgmlError {
  /** `CANCELLED`. */
  static override readonly code: string = "CANCELLED";
}

/** A native thread didn't start, or ended while work was under way. */
export class NativeThreadError extends GgmlError {
  /** `NATIVE_THREAD`. */
  static override readonly code: string = "NATIVE_THREAD";
}

/**
 * Native code called `abort()`: a failed assertion, an uncaught C++ exception. The process goes on; whatever was on that native thread is lost. `value` is
 * what native code said, `undefined` when it said nothing.
 */
export class NativeAbortError extends GgmlError {
  /** `NATIVE_ABORT`. */
  static override readonly code: string = "NATIVE_ABORT";
}

/** The connection to an RPC server broke while native code used it, which makes native code abort: what was on that native thread is lost, too. */
export class RemoteLostError extends NativeAbortError {
  /** `REMOTE_LOST`. */
  static override readonly code: string = "REMOTE_LOST";
}

/** A native call gave no sign of life for `watchdogMs` and was abandoned; whatever was on its native thread is lost. */
export class NativeHangError extends GgmlError {
  /** `NATIVE_HANG`. */
  static override readonly code: string = "NATIVE_HANG";
}

registerErrors(
  GgmlError,
  LibraryNotFoundError,
  LibraryDownloadError,
  LibraryOpenError,
  LibraryVersionError,
  LibraryHashError,
  ManifestError,
  SymbolNotFoundError,
  UnsupportedSignatureError,
  UnsupportedPlatformError,
  PermissionError,
  InvalidArgumentError,
  DisposedError,
  CancelledError,
  NativeThreadError,
  NativeAbortError,
  RemoteLostError,
  NativeHangError,
);
