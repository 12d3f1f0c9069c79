import { InvalidArgumentError } from "../../../base/errors.ts";
import { shownUrl } from "./errors.ts";

/** Throws {@linkcode InvalidArgumentError} for an address that isn't `https:`, unless it is of this machine or `http:` is allowed. */
export function checkProtocol(url: URL, allowHttp: boolean): void {
  if (url.protocol === "https:") return;
  if (url.protocol === "http:" && (allowHttp || isThisMachine(url.hostname))) return;
  const cure = url.protocol === "http:"
    ? "anybody on the way could change it; give an https: address, or allowHttp"
    : "";
  throw new InvalidArgumentError(
    `${shownUrl(url)} isn't an https: address${cure === "" ? "" : `: ${cure}`}`,
    { value: url.href, expected: "an https: URL, or an http: URL of this machine" },
  );
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}
