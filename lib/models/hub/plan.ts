import { allParts } from "../parts.ts";
import { safeName } from "../cache/entry.ts";
import type { PullSettings } from "../../support/download_options.ts";
import { hubFileUrl } from "./endpoint.ts";
import { chooseHubFile } from "./choose_file.ts";
import { listHubFiles } from "./list_files.ts";
import type { HubReference } from "./reference.ts";

/** A file of the hub to download. */
export interface HubFile {
  readonly url: URL;
  readonly name: string;
  readonly sha256?: string;
  readonly bytes?: number;
}

/** Returns the files of a model on the hub. Throws ModelDownloadError, ModelPartError, InvalidArgumentError and PermissionError. */
export async function planHubFiles(reference: HubReference, settings: PullSettings): Promise<HubFile[]> {
  const file = reference.file ?? chooseHubFile(reference, await listHubFiles(reference, settings));
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  return allParts(file.slice(folder.length)).map((name) => ({
    url: hubFileUrl(reference, folder + name),
    name: safeName(name),
  }));
}
