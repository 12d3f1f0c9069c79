import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { libraryFault, MANIFEST_NAME } from "../../../scripts/build/manifest.ts";
import { cacheFolder, produce } from "../../../scripts/setup/cache.ts";
import { ensureModel, modelPath, type ModelPin } from "../../../scripts/setup/models.ts";
import { fingerprint, Verifier } from "../../../scripts/setup/verify.ts";
import { SetupError } from "../../../scripts/support/errors.ts";
import { moduleCommand, runProgram } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const CONTENT = "model ".repeat(1000);
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const expected = { size: CONTENT.length, sha256: hashOf(CONTENT) };
const pin: ModelPin = { file: "model.gguf", bytes: expected.size, sha256: expected.sha256, license: "", packages: [] };

/** Changes one byte and puts the times back, as a program that hides its work would. */
function changeByte(path: string): void {
  const { atime, mtime, size } = statSync(path);
  const bytes = readFileSync(path);
  bytes[Math.floor(size / 2)]! ^= 1;
  truncateSync(path, 0);
  appendFileSync(path, bytes);
  utimesSync(path, atime, mtime);
  assert.equal(statSync(path).size, size);
}

/** A folder as a build leaves it. */
async function makeLibraries(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const names = ["ggml", "ggml-base", "ggml-rpc", "llama", "mtmd", "whisper", "parakeet", "ggml-cpu-x64"];
  const files = names.map((library) => ({
    name: `lib${library}.so`,
    size: library.length,
    sha256: hashOf(library),
    ...(library === "ggml-cpu-x64" ? { kind: "backend", variant: "x64" } : { kind: "library", library }),
  }));
  for (const [at, { name }] of files.entries()) await writeFile(join(folder, name), names[at]!);
  await writeFile(join(folder, MANIFEST_NAME), JSON.stringify({ format: 1, target: "x86_64-linux-gnu", files }));
}

const build = { target: "x86_64-linux-gnu", variants: ["x64"] };

for (
  const [damage, harm] of [
    ["cut to 1,000 bytes", (path: string) => truncateSync(path, 1000)],
    ["with one byte changed and its times put back", changeByte],
    ["that is empty", (path: string) => truncateSync(path, 0)],
    ["with a byte more", (path: string) => appendFileSync(path, "x")],
  ] as const
) {
  test(`a model ${damage} is fetched again, and the next set-up trusts it`, async () => {
    using folder = new TemporaryFolder();
    let fetched = 0;
    const ensure = async (): Promise<void> => {
      const verifier = await Verifier.open(folder.path);
      await ensureModel("", folder.path, pin, verifier, async (temporary) => {
        fetched++;
        await writeFile(temporary, CONTENT);
      });
      await verifier.save();
    };
    await ensure();
    await ensure();
    assert.equal(fetched, 1);
    harm(modelPath(folder.path, pin));
    await ensure();
    await ensure();
    assert.equal(fetched, 2);
    assert.equal(readFileSync(modelPath(folder.path, pin), "utf8"), CONTENT);
    assert.deepEqual(readdirSync(folder.file("models")), [pin.file]);
  });
}

test("a file that wasn't touched isn't hashed again, unless that is asked for", async () => {
  using folder = new TemporaryFolder();
  const path = folder.file("model");
  await writeFile(path, "x".repeat(CONTENT.length));
  assert.match(await (await Verifier.open(folder.path)).fault(path, expected) ?? "", /SHA-256 is [0-9a-f]{64} instead/);
  // A record that claims the hash for the wrong content shows which of the two was asked.
  const record = { [path]: { fingerprint: fingerprint(path), sha256: expected.sha256 } };
  await writeFile(folder.file("verified.json"), JSON.stringify(record));
  assert.equal(await (await Verifier.open(folder.path)).fault(path, expected), undefined);
  assert.match(await (await Verifier.open(folder.path, false)).fault(path, expected) ?? "", /SHA-256/);
  for (const text of ["", "{", "null", '{"a": 1}']) {
    await writeFile(folder.file("verified.json"), text);
    assert.match(await (await Verifier.open(folder.path)).fault(path, expected) ?? "", /SHA-256/, text);
  }
  assert.equal(await (await Verifier.open(folder.path)).fault(folder.file("none"), expected), "it isn't there");
});

test("the hash of a file that was written a moment ago isn't kept: its times wouldn't tell a change in the same second", async () => {
  using folder = new TemporaryFolder();
  const path = folder.file("model");
  await writeFile(path, CONTENT);
  for (const [later, kept] of [[0, 0], [60_000, 1]] as const) {
    const verifier = await Verifier.open(folder.path, true, () => statSync(path).ctimeMs + later);
    assert.equal(await verifier.fault(path, expected), undefined);
    await verifier.save();
    const known = JSON.parse(readFileSync(folder.file("verified.json"), "utf8")) as Record<string, unknown>;
    assert.equal(Object.keys(known).length, kept);
  }
});

for (
  const [damage, harm, reason] of [
    [
      "an empty manifest",
      (folder: string) => writeFile(join(folder, MANIFEST_NAME), ""),
      /manifest.json can't be read/,
    ],
    [
      "an empty object as its manifest",
      (folder: string) => writeFile(join(folder, MANIFEST_NAME), "{}"),
      /can't be read/,
    ],
    ["a manifest of null", (folder: string) => writeFile(join(folder, MANIFEST_NAME), "null"), /can't be read/],
    ["no manifest", (folder: string) => rm(join(folder, MANIFEST_NAME)), /can't be read/],
    [
      "a manifest that lists nothing",
      (folder: string) => writeFile(join(folder, MANIFEST_NAME), '{"target":"x86_64-linux-gnu","files":[]}'),
      /lists no library ggml/,
    ],
    ["a missing library", (folder: string) => rm(join(folder, "libllama.so")), /libllama.so: it isn't there/],
    [
      "a changed byte in a library",
      (folder: string) => changeByte(join(folder, "libllama.so")),
      /libllama.so: its SHA/,
    ],
    [
      "a library that was cut",
      (folder: string) => truncateSync(join(folder, "libllama.so"), 2),
      /libllama.so: it has 2/,
    ],
    ["a library too many", (folder: string) => writeFile(join(folder, "libmore.so"), ""), /doesn't list libmore.so/],
  ] as const
) {
  test(`a build with ${damage} is built again`, async () => {
    using folder = new TemporaryFolder();
    const path = folder.file("build");
    let built = 0;
    let found: string | undefined;
    const ensure = async (): Promise<void> => {
      const verifier = await Verifier.open(folder.path);
      await produce(path, (temporary) => (built++, makeLibraries(temporary)), {
        fault: async () => found = await libraryFault(path, build, verifier),
      });
      await verifier.save();
    };
    await ensure();
    await ensure();
    assert.equal(built, 1);
    await harm(path);
    assert.match(await libraryFault(path, build, await Verifier.open(folder.path)) ?? "", reason);
    await ensure();
    assert.equal(built, 2);
    assert.equal(await libraryFault(path, build, await Verifier.open(folder.path, false)), undefined);
    assert.notEqual(found, "");
  });
}

test("a build of another target, or without a wanted variant, isn't taken", async () => {
  using folder = new TemporaryFolder();
  await makeLibraries(folder.path);
  const verifier = await Verifier.open(folder.path);
  assert.equal(await libraryFault(folder.path, build, verifier), undefined);
  assert.match(
    await libraryFault(folder.path, { ...build, target: "aarch64-macos" }, verifier) ?? "",
    /for the target/,
  );
  assert.match(
    await libraryFault(folder.path, { ...build, variants: ["zen4"] }, verifier) ?? "",
    /no CPU variant zen4/,
  );
});

test("a cache that can't be written is a SetupError that names the place and the way out", async () => {
  using folder = new TemporaryFolder();
  await writeFile(folder.file("file"), "");
  await assert.rejects(
    produce(folder.file("file/models/model"), () => assert.fail("nothing is made")),
    (error: Error) =>
      error instanceof SetupError && /file\/models.*can't be written.*GGML_FFI_CACHE/.test(error.message),
  );
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  await assert.rejects(
    produce(folder.file("model"), () => Promise.reject(full)),
    (error: Error) => error instanceof SetupError && error.cause === full,
  );
  assert.deepEqual(readdirSync(folder.path), ["file"]);
  assert.ok(cacheFolder().length > 0);
});

test("a maker that is killed at any of 50 moments leaves nothing, or the whole; the next one makes it sound", async () => {
  using folder = new TemporaryFolder();
  for (let moment = 0; moment < 50; moment++) {
    const path = folder.file(`made-${moment}`);
    const command = moduleCommand("tests/unit/setup/produce_child.ts", [path]);
    const { signal } = await runProgram(command, {
      onOutput: (stdout, child) => {
        if (stdout.split("\n").length > moment) child.kill("SIGKILL");
        else child.stdin?.write("\n");
      },
    });
    assert.equal(signal, "SIGKILL", `moment ${moment}`);
    if (existsSync(path)) assert.deepEqual(readdirSync(path).length, 24, `moment ${moment}`);
    await produce(path, async (temporary) => {
      await mkdir(temporary);
      for (let at = 0; at < 24; at++) await writeFile(join(temporary, `file-${at}`), CONTENT);
    });
    for (const name of readdirSync(path)) assert.equal(readFileSync(join(path, name), "utf8"), CONTENT);
    assert.equal(readdirSync(path).length, 24);
  }
  assert.equal(readdirSync(folder.path).length, 50);
});
