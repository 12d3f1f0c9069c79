// npm run upgrade: a report of what a new release of upstream changes, and which checks then fail.
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { findZig } from "./bindgen/clang.ts";
import { readHeaders, upstreamFolder } from "./bindgen/read.ts";
import { cacheFolder } from "./setup/cache.ts";
import { setup } from "./setup/setup.ts";
import { ensureSources, readPins } from "./setup/sources.ts";
import { runCommand } from "./support/command.ts";
import { UsageError } from "./support/errors.ts";
import { ROOT } from "./support/root.ts";
import { checkRelease, reportChecks } from "./upgrade/checks.ts";
import { compareReleases, reportChanges } from "./upgrade/compare.ts";
import { pinVersion, writePin } from "./upgrade/pin.ts";

const help =
  `Compares the headers of a new release of upstream with the pinned ones: prints the files, functions, structs, enums and constants that were added,
removed or changed, and runs the checks that this may break. Ends with 1 when one of them fails.

Usage: npm run upgrade -- NAME@VERSION [--write]   NAME is one of csrc/sources.json, VERSION one of its package, which is fetched into the cache
       npm run upgrade -- --to FOLDER [options]    a folder with a checkout of llama.cpp, one of whisper.cpp beside it

  --from FOLDER   the sources to compare with (default: csrc/upstream/llama.cpp)
  --write         writes the new pin into csrc/sources.json
  -h, --help      this text
`;

const options = { from: { type: "string" }, to: { type: "string" }, write: { type: "boolean" } } as const;

await runCommand({ help, options, allowPositionals: true }, async ({ from, to, write }, [wanted, ...more]) => {
  if ((wanted === undefined) === (to === undefined) || more.length > 0) {
    throw new UsageError(`give one NAME@VERSION, or --to FOLDER\n\n${help}`);
  }
  await setup();
  const old = resolve(from ?? upstreamFolder);
  if (to !== undefined) return await report(old, resolve(to));
  const [, name = "", version = ""] = /^(.+)@([^@]+)$/.exec(wanted ?? "") ?? [];
  if (name === "") throw new UsageError(`"${wanted}" isn't NAME@VERSION`);
  const pin = await pinVersion(ROOT, name, version);
  const tree = await mkdtemp(join(tmpdir(), "ggml-ffi-upgrade-"));
  try {
    for (const [other, otherPin] of Object.entries(await readPins(ROOT))) {
      const sources = await ensureSources(cacheFolder(), other, other === name ? pin : otherPin);
      await symlink(sources, join(tree, other), "junction");
    }
    process.stdout.write(`${name}: ${pin.package} ${version}${pin.commit ? `, commit ${pin.commit}` : ""}\n\n`);
    const code = await report(old, join(tree, "llama.cpp"));
    if (write === true) await writePin(ROOT, name, pin);
    return code;
  } finally {
    await rm(tree, { recursive: true });
  }
});

async function report(from: string, to: string): Promise<number> {
  const zig = await findZig();
  const [old, now] = [readHeaders(zig, from), readHeaders(zig, to)];
  process.stdout.write(reportChanges(compareReleases([from, old], [to, now])));
  const checks = await checkRelease(zig, to, now);
  process.stdout.write(`\n${reportChecks(checks)}`);
  const failed = checks.filter(({ problems }) => problems.length > 0).length;
  process.stdout.write(
    failed === 0
      ? "\nEvery check passes: npm run setup builds it, npm test tries it.\n"
      : `\n${failed} of ${checks.length} checks fail. CONTRIBUTING.md has the steps.\n`,
  );
  return failed === 0 ? 0 : 1;
}
