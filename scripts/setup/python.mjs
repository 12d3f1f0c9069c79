// Python's package client, for what comes from its registry.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { SetupError } from "./errors.mjs";
import { answer, run } from "./exec.mjs";
import { watchBytes } from "./progress.mjs";

let known;

/** The command of a Python 3 that has pip. */
export async function python() {
  return known ??= await findPython();
}

async function findPython() {
  for (const [command, ...args] of [["python3"], ["python"], ["py", "-3"]]) {
    const version = await answer(command, [...args, "-m", "pip", "--version"]);
    if (version?.includes("python 3")) return [command, ...args];
  }
  throw new SetupError(
    "Set-up needs Python 3 with pip, to fetch the model and the compiler. Install them and run the same command again: " +
      "apt-get install python3 python3-pip, brew install python, or the installer of python.org.",
  );
}

export async function runPython(args, options) {
  const [command, ...first] = await python();
  return await run(command, [...first, ...args], options);
}

/** Downloads the wheel of one package into `folder`, and returns its path. `bytes` is its size, as far as known. */
export async function downloadWheel(folder, name, version, bytes, report) {
  const wheels = join(folder, "wheels");
  // pip downloads to the folder for temporary files first; one of our own shows how far it is.
  const temporary = join(folder, "tmp");
  for (const dir of [wheels, temporary]) await mkdir(dir, { recursive: true });
  const args = [
    "-m",
    "pip",
    "download",
    "--no-deps",
    "--no-input",
    "--only-binary=:all:",
    "--no-cache-dir",
    "-d",
    wheels,
    `${name}==${version}`,
  ];
  await watchBytes(folder, bytes, report, () =>
    runPython(args, {
      task: `fetching ${name} ${version}`,
      env: { TMPDIR: temporary, TEMP: temporary, TMP: temporary, PIP_DISABLE_PIP_VERSION_CHECK: "1" },
    }));
  const wheel = (await readdir(wheels)).find((file) => file.endsWith(".whl"));
  if (wheel === undefined) throw new SetupError(`pip download ${name}==${version} left no wheel`);
  return join(wheels, wheel);
}

/** Throws an error that names both values when a file isn't the pinned one. */
export async function checkSha256(path, expected, what) {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  const found = hash.digest("hex");
  if (found !== expected) {
    throw new SetupError(`${what} isn't what is pinned.\n  pinned: ${expected}\n  came:   ${found}`);
  }
}
