import { SetupError } from "../support/errors.ts";
import { TARGETS } from "./platform.ts";

const LIBRARY = /^ggml-ffi-ggml-ffi-\d/;
const NATIVE = /^ggml-ffi-native-\d/;

/** Returns the tarballs in the order in which they are published: who depends on others comes after them. Throws SetupError unless there are all. */
export function publishOrder(files: readonly string[]): string[] {
  const tarballs = files.filter((name) => name.endsWith(".tgz")).sort();
  const rank = (name: string): number => LIBRARY.test(name) ? 2 : NATIVE.test(name) ? 1 : 0;
  const platforms = tarballs.filter((name) => rank(name) === 0);
  if (platforms.length !== TARGETS.length || tarballs.length !== platforms.length + 2) {
    throw new SetupError(
      `a release has ${TARGETS.length} packages with libraries and two others; there are ${
        tarballs.join(", ") || "none"
      }`,
    );
  }
  return tarballs.toSorted((a, b) => rank(a) - rank(b));
}
