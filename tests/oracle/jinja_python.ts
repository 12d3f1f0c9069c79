/** Python's jinja2, pinned, as it answers to tests/oracle/jinja_oracle.py. */

import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, produce } from "../../scripts/setup/cache.ts";
import { runPython } from "../../scripts/setup/python.ts";

const packages = ["jinja2==3.1.6", "markupsafe==3.0.4"];
const driver = fileURLToPath(new URL("jinja_oracle.py", import.meta.url));

/** A template to render. */
export interface Request {
  /** The template; or `file`. */
  readonly template?: string;
  /** The template's path. */
  readonly file?: string;
  /** Its variables. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What came of it. */
export type Answer = { readonly text: string; readonly error?: undefined } | {
  readonly text?: undefined;
  readonly error: string;
  readonly message: string;
};

/** Brings jinja2 into the cache, and returns its folder. */
async function packageFolder(): Promise<string> {
  const folder = join(cacheFolder(), "oracle", packages.join("-").replaceAll("==", "-"));
  await produce(folder, async (temporary) => {
    await mkdir(temporary, { recursive: true });
    const target = join(temporary, "packages");
    await runPython(
      ["-m", "pip", "install", "--no-input", "--no-cache-dir", "--no-deps", "--target", target, ...packages],
      { task: `fetching ${packages.join(", ")}`, env: { PIP_DISABLE_PIP_VERSION_CHECK: "1" } },
    );
    await rename(target, join(temporary, "python"));
  });
  return join(folder, "python");
}

/** Renders templates with jinja2. */
export async function askJinja(requests: readonly Request[]): Promise<Answer[]> {
  const folder = await mkdtemp(join(tmpdir(), "ggml-ffi-jinja-"));
  try {
    const path = join(folder, "requests.jsonl");
    await writeFile(path, requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
    const env = { PYTHONPATH: await packageFolder(), PYTHONWARNINGS: "ignore", TZ: "UTC", LC_ALL: "C.UTF-8" };
    const output = await runPython([driver, path], { task: "rendering with jinja2", env });
    return output.trimEnd().split("\n").map((line) => JSON.parse(line) as Answer);
  } finally {
    await rm(folder, { recursive: true });
  }
}
