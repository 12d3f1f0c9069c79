import { allParts } from "../parts.ts";
import { safeName } from "../cache/entry.ts";
import type { PullSettings } from "../../support/download_options.ts";
import { hubFileUrl } from "./endpoint.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import { hubName, type HubReference } from "./reference.ts";

/** A file of the hub to download. */
export interface HubFile {
  readonly url: URL;
  readonly name: string;
  readonly sha256?: string;
  readonly bytes?: number;
}

/** Returns the files of a model on the hub. Throws ModelDownloadError, {@linkcode ModelPartError} and PermissionError. */
export async function planHubFiles(reference: HubReference, _settings: PullSettings): Promise<HubFile[]> {
  const { file } = reference;
  if (file === undefined) {
    throw new InvalidArgumentError(`${hubName(reference)} names no file; add it: hf:owner/repo/file.gguf`, {
      value: hubName(reference),
      expected: "a file of the repository",
    });
  }
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  return await Promise.resolve(
    allParts(file.slice(folder.length)).map((name) => ({
      url: hubFileUrl(reference, folder + name),
      name: safeName(name),
    })),
  );
}
