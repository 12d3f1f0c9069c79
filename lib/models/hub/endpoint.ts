import { environment } from "../../../ffi/runtime/environment.ts";
import { InvalidArgumentError } from "../../../base/errors.ts";
import type { HubReference } from "./reference.ts";

const PUBLIC_HUB = "https://huggingface.co";

/** The address of the hub, without a slash at its end: `$HF_ENDPOINT`, a mirror, or the public one. Throws {@linkcode InvalidArgumentError}. */
export function hubEndpoint(): string {
  const named = environment("HF_ENDPOINT") ?? PUBLIC_HUB;
  const url = URL.parse(named);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  throw new InvalidArgumentError(`HF_ENDPOINT is ${JSON.stringify(named)}; expected an https: URL`, {
    value: named,
    expected: "an https: URL",
  });
}

/** The address of a file of a repository. */
export function hubFileUrl({ repo, revision }: HubReference, file: string): URL {
  const path = file.split("/").map(encodeURIComponent).join("/");
  return new URL(`${hubEndpoint()}/${repo}/resolve/${encodeURIComponent(revision)}/${path}`);
}

/** The token for the hub: `$HF_TOKEN`, or by its older name. */
export function hubToken(): string | undefined {
  return environment("HF_TOKEN") ?? environment("HUGGING_FACE_HUB_TOKEN");
}

/** Returns headers with the hub's token, if this is the hub and no other header stands in. */
export function withToken(url: URL, headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const token = hubToken();
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (token === undefined || isGiven || url.origin !== new URL(hubEndpoint()).origin) return headers;
  return { ...headers, authorization: `Bearer ${token}` };
}
