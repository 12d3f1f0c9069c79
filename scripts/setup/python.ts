// Python's package client, for what comes from its registry.
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { SetupError } from "../support/errors.ts";
import { answer, run, type RunOptions } from "../support/exec.ts";
import { type ReportProgress, watchBytes } from "../support/progress.ts";

let known: readonly string[] | undefined;

/** The command of a Python 3 that has pip. */
async function python(): Promise<readonly string[]> {
  return known ??= await findPython();
}

async function findPython(): Promise<readonly string[]> {
  for (const [command = "", ...args] of [["python3"], ["python"], ["py", "-3"]]) {
    const version = await answer(command, [...args, "-m", "pip", "--version"]);
    if (version?.includes("python 3")) return [command, ...args];
  }
  throw new SetupError(
    "Set-up needs Python 3 with pip, to fetch the model and the compiler. Install them and run the same command again: " +
      "apt-get install python3 python3-pip, brew install python, or the installer of python.org.",
  );
}

/** Runs Python and returns its standard output. */
export async function runPython(args: readonly string[], options: RunOptions): Promise<string> {
  const [command = "", ...first] = await python();
  return await run(command, [...first, ...args], options);
}

/** Downloads the wheel of one package into `folder`, and returns its path. `bytes` is its size, as far as known. */
export async function downloadWheel(
  folder: string,
  name: string,
  version: string,
  bytes: number,
  report: ReportProgress,
): Promise<string> {
  const wheels = join(folder, "wheels");
  // pip downloads to the folder for temporary files first; one of our own shows how far it is.
  const temporary = join(folder, "tmp");
  for (const dir of [wheels, temporary]) await mkdir(dir, { recursive: true });
  const flags = ["--no-deps", "--no-input", "--only-binary=:all:", "--no-cache-dir"];
  await watchBytes(
    folder,
    bytes,
    report,
    () =>
      runPython(["-m", "pip", "download", ...flags, "-d", wheels, `${name}==${version}`], {
        task: `fetching ${name} ${version}`,
        env: { TMPDIR: temporary, TEMP: temporary, TMP: temporary, PIP_DISABLE_PIP_VERSION_CHECK: "1" },
      }),
  );
  const wheel = (await readdir(wheels)).find((file) => file.endsWith(".whl"));
  if (wheel === undefined) throw new SetupError(`pip download ${name}==${version} left no wheel`);
  return join(wheels, wheel);
}

const EXTRACT = `
import os, shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in sys.argv[3:]:
        with wheel.open(name) as member, open(os.path.join(sys.argv[2], os.path.basename(name)), "wb") as out:
            shutil.copyfileobj(member, out, 1 << 20)
`;

/** Unpacks members of a wheel into `folder`, each under its last name. */
export async function extractMembers(wheel: string, folder: string, members: readonly string[], task: string) {
  await runPython(["-c", EXTRACT, wheel, folder, ...members], { task });
}
