import { downloadError, RetryableError } from "../download/errors.ts";
import { readPiece, request, type RequestSettings } from "../download/request.ts";
import { hubEndpoint, withToken } from "./endpoint.ts";
import type { HubReference } from "./reference.ts";
import type { PullSettings } from "../../support/download_options.ts";

/** What is told of a repository is read up to this size. */
const MAX_BYTES = 1 << 24;

/** Asks the hub for the paths of a repository's files. Throws ModelDownloadError, PermissionError and the signal's reason. */
export async function listHubFiles({ repo, revision }: HubReference, settings: PullSettings): Promise<string[]> {
  const url = new URL(`${hubEndpoint()}/api/models/${repo}/revision/${encodeURIComponent(revision)}`);
  const text = await readText(url, { ...settings, headers: withToken(url, settings.headers) });
  const about = parse(text) as { siblings?: unknown } | null;
  const siblings = about?.siblings;
  if (!Array.isArray(siblings)) throw notAList(url);
  return siblings.map((one) => (one as { rfilename?: unknown } | null)?.rfilename).filter((name) =>
    typeof name === "string"
  );
}

async function readText(url: URL, settings: RequestSettings): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  try {
    const { body } = await request(url, undefined, settings);
    for (let piece = await readPiece(url, body, settings); piece !== undefined;) {
      bytes += piece.length;
      if (bytes > MAX_BYTES) {
        body.cancel().catch(() => {});
        throw notAList(url);
      }
      text += decoder.decode(piece, { stream: true });
      piece = await readPiece(url, body, settings);
    }
  } catch (error) {
    throw error instanceof RetryableError ? error.shown : error;
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function notAList(url: URL): Error {
  return downloadError(url, "the answer is no list of files", {
    value: url.host,
    expected: "what the hub tells of a model",
    cure: "check HF_ENDPOINT",
  });
}
