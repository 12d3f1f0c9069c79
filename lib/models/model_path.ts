import { fileURLToPath } from "node:url";
import { checkText, isInstance, refuse, show } from "../../base/check.ts";
import { InvalidArgumentError } from "../../base/errors.ts";

/**
 * Returns the path that a path or a `file:` URL stands for. Throws {@linkcode InvalidArgumentError} for anything else.
 *
 * @param source the path or URL
 * @param name the name that messages call it by
 */
export function modelPath(source: string | URL, name: string = "the path of the model"): string {
  if (isInstance(source, URL)) return pathOfUrl(source, name);
  const path = checkText(name, source);
  if (path === "") refuse(name, path, "the path of a file; it is empty");
  if (path.includes("\0")) refuse(name, path, "a path; a NUL character can't be part of one");
  // One letter is a drive of Windows; a path may have a colon, and then no two slashes behind it.
  if (/^file:/i.test(path)) return pathOfUrl(path, name);
  if (/^([a-z][a-z0-9+.-]+:\/\/|(hf|huggingface|data|blob):)/i.test(path)) refuseAddress(path, name);
  return path;
}

function refuseAddress(address: string, name: string): never {
  throw new InvalidArgumentError(
    `${name} is ${show(address)}: it can't be loaded from an address; download the file and give its path or file: URL`,
    { value: address, expected: "a path, or a file: URL" },
  );
}

function pathOfUrl(source: string | URL, name: string): string {
  const url = URL.parse(source);
  if (url === null) refuseUrl(source, name);
  if (url.protocol !== "file:") refuseAddress(url.href, name);
  try {
    return fileURLToPath(url);
  } catch (cause) {
    refuseUrl(source, name, cause);
  }
}

function refuseUrl(source: string | URL, name: string, cause?: unknown): never {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  throw new InvalidArgumentError(
    `${name} is ${
      show(String(source))
    }, which is no file: URL of a file on this machine${why}; give a path, or a URL made by pathToFileURL`,
    { value: String(source), expected: "a file: URL such as file:///models/model.gguf", cause },
  );
}
