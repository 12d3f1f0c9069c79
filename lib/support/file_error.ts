import { messageOf } from "../../base/error.ts";
import { rethrowDenied } from "../../base/permission.ts";

/** The classes of errors about a file that can't be opened. */
export interface FileErrors {
  /** The file isn't there. */
  readonly NotFound: new (message: string, details: { value: string; expected: string; cause: unknown }) => Error;
  /** It may not be read. */
  readonly Access: new (message: string, details: { value: string; expected: string; cause: unknown }) => Error;
  /** The kind of file that is expected. */
  readonly expected: string;
}

/** Throws the system's refusal to open or read a file, as an error of ours. */
export function throwFileError(path: string, cause: unknown, { NotFound, Access, expected }: FileErrors): never {
  const { code } = cause as { code?: unknown };
  if (code === "ENOENT" || code === "ENOTDIR") {
    throw new NotFound(`there is no file ${path}; check the path`, { value: path, expected, cause });
  }
  rethrowDenied(cause, `reading ${path}`, `--allow-read=${path}`);
  const message = messageOf(cause);
  throw new Access(`${path} can't be read (${message}); check its permissions`, {
    value: path,
    expected: "a file that may be read",
    cause,
  });
}
