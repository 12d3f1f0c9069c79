import { dirname, resolve } from "node:path";
import { InvalidArgumentError } from "../base/errors.ts";
import { type OpenOptions, openSpec } from "./library/locate.ts";
import { Native } from "./native.ts";

let openedSet: Promise<Native> | undefined;
let checkedSet: Promise<Native> | undefined;

/**
 * Finds, checks and opens the libraries, once per process: later calls give the same object, with `checked` another one of the same libraries. The system tells libraries apart by name, so a second set
 * can't be opened beside the first.
 *
 * Throws LibraryNotFoundError, LibraryHashError, LibraryVersionError, LibraryOpenError, ManifestError, UnsupportedPlatformError; InvalidArgumentError for
 * another `libraryPath` than the one in use.
 */
export async function open(options: OpenOptions = {}): Promise<Native> {
  const { libraryPath: wanted, checked } = openSpec.check(options);
  if (openedSet === undefined) {
    const native = Native.open(options);
    openedSet = native;
    native.catch(() => openedSet = undefined);
  } else if (wanted !== undefined) {
    const { directory } = (await openedSet).set;
    if (resolve(wanted.endsWith(".json") ? dirname(wanted) : wanted) !== resolve(directory)) {
      throw new InvalidArgumentError(
        `the libraries in ${directory} are in use already; ${wanted} can't be opened beside them`,
        { value: wanted, expected: directory },
      );
    }
  }
  if (checked !== true) return openedSet;
  const native = await openedSet;
  return checkedSet ??= native.withChecks();
}
