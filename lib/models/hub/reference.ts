/**
 * Names of models on the Hugging Face Hub.
 *
 * @module
 */

import { refuse } from "../../../base/check.ts";

/** A model on the hub. */
export interface HubReference {
  /** `owner/repo`. */
  readonly repo: string;
  /** A branch, a tag or a commit. Default `main`. */
  readonly revision: string;
  /** The file in the repository. */
  readonly file: string | undefined;
  /** The quantization, such as `Q4_K_M`. */
  readonly quantization: string | undefined;
}

const FORM = "hf:owner/repo, with @revision and then /path/file.gguf or :Q4_K_M if need be";
const NAME = /^[A-Za-z0-9][\w.-]{0,95}$/;
const REVISION = /^[\w.-]+(\/[\w.-]+)*$/;

/** Reads `hf:owner/repo[@revision][/path/file.gguf | :Q4_K_M]`. Throws {@linkcode InvalidArgumentError}. */
export function parseHubReference(text: string, name: string = "the model"): HubReference {
  const parts = /^hf:(?:\/\/)?([^/@:]+)\/([^/@:]+)(?:@([^/:]+))?(?:\/([^:]+)|:([\w.-]+))?$/i.exec(text);
  const [, owner = "", repo = "", revision, file, quantization] = parts ?? [];
  const branch = revision === undefined ? "main" : decoded(revision);
  const isRight = [owner, repo].every((one) => NAME.test(one) && !one.includes("..")) && isSafe(branch) &&
    REVISION.test(branch) && (file === undefined || isSafe(file));
  if (!isRight) refuse(name, text, FORM);
  return { repo: `${owner}/${repo}`, revision: branch, file, quantization };
}

/** A revision may be a path, `refs/pr/1`; its slashes are written `%2F`. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function isSafe(path: string): boolean {
  // deno-lint-ignore no-control-regex
  return path.split("/").every((one) => one !== "" && one !== "." && one !== "..") && !/[\\\x00-\x1f\x7f]/.test(path);
}

/** The reference as text: the same for each way to write it. */
export function hubName({ repo, revision, file, quantization }: HubReference): string {
  const end = file !== undefined ? `/${file}` : quantization !== undefined ? `:${quantization}` : "";
  return `hf:${repo}${revision === "main" ? "" : `@${encodeURIComponent(revision)}`}${end}`;
}
