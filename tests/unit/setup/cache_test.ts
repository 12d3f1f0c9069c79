import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { withLock } from "../../../scripts/bootstrap/lock.mjs";
import { cacheFolder, produce } from "../../../scripts/setup/cache.ts";
import { linkTo } from "../../../scripts/setup/link.ts";

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "ggml-ffi-test-"));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The id of a process that has ended. */
function deadProcess(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

test("the cache is where the environment or the system says", () => {
  assert.equal(cacheFolder({ GGML_FFI_CACHE: "/somewhere" }, "linux", "/home/a"), "/somewhere");
  assert.equal(cacheFolder({}, "linux", "/home/a"), join("/home/a", ".cache", "ggml-ffi"));
  assert.equal(cacheFolder({ XDG_CACHE_HOME: "/x" }, "linux", "/home/a"), join("/x", "ggml-ffi"));
  assert.equal(cacheFolder({}, "darwin", "/Users/a"), join("/Users/a", "Library", "Caches", "ggml-ffi"));
  assert.equal(cacheFolder({ LOCALAPPDATA: "/l" }, "win32", "/u"), join("/l", "ggml-ffi"));
});

test("what a maker makes appears whole, once", () =>
  inFolder(async (folder) => {
    const path = join(folder, "deep", "made");
    const made = await produce(path, async (temporary: string) => {
      await writeFile(temporary, "half");
      assert.equal(existsSync(path), false);
      await writeFile(temporary, "whole");
    });
    assert.equal(made, true);
    assert.equal(await readFile(path, "utf8"), "whole");
    assert.equal(await produce(path, () => assert.fail("it is there")), false);
    assert.deepEqual(await readdir(join(folder, "deep")), ["made"]);
  }));

test("a maker that fails leaves nothing", () =>
  inFolder(async (folder) => {
    const failing = async (temporary: string) => {
      await mkdir(temporary);
      await writeFile(join(temporary, "part"), "");
      throw new Error("no more");
    };
    await assert.rejects(produce(join(folder, "made"), failing), /no more/);
    assert.deepEqual(await readdir(folder), []);
  }));

test("of several makers at once one works and the others get its work", () =>
  inFolder(async (folder) => {
    let calls = 0;
    const make = async (temporary: string) => {
      calls++;
      await writeFile(temporary, "made");
    };
    const path = join(folder, "made");
    const results = await Promise.all([produce(path, make), produce(path, make), produce(path, make)]);
    assert.equal(calls, 1);
    assert.deepEqual(results.filter(Boolean), [true]);
  }));

test("what a killed maker left is removed, and its lock taken over", () =>
  inFolder(async (folder) => {
    const pid = deadProcess();
    const path = join(folder, "made");
    await mkdir(`${path}.tmp-${pid}-abcd`);
    await mkdir(`${path}.tmp-${pid}-abcd-work`);
    await writeFile(`${path}.lock`, JSON.stringify({ pid, host: hostname() }));
    await produce(path, (temporary: string) => writeFile(temporary, "made"));
    assert.deepEqual(await readdir(folder), ["made"]);
  }));

test("what programs of a killed maker wrote after it is removed by the next set-up", () =>
  inFolder(async (folder) => {
    const path = join(folder, "made");
    await writeFile(path, "made");
    await mkdir(`${path}.tmp-${deadProcess()}-abcd`);
    assert.equal(await produce(path, () => assert.fail("it is there")), false);
    assert.deepEqual(await readdir(folder), ["made"]);
  }));

test("a lock of another machine is taken over when its owner no longer touches it", () =>
  inFolder(async (folder) => {
    const path = join(folder, "made");
    await writeFile(`${path}.lock`, JSON.stringify({ pid: process.pid, host: "elsewhere" }));
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(`${path}.lock`, longAgo, longAgo);
    assert.equal(await withLock(path, () => "done"), "done");
    assert.deepEqual(await readdir(folder), []);
  }));

test("a link is made, moved to another folder, and never put over a real folder", () =>
  inFolder(async (folder) => {
    const [one, two, link] = ["one", "two", "links/current"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(one);
    await mkdir(two);
    await linkTo(one, link);
    await linkTo(one, link);
    assert.equal(await readlink(link), one);
    await linkTo(two, link);
    assert.equal(await readlink(link), two);
    await assert.rejects(linkTo(one, two), /two is in the way/);
    assert.equal(existsSync(two), true);
  }));
