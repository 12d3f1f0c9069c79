import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { checkIntegrity, sourceFolder } from "../../../scripts/setup/sources.ts";
import { filesOf } from "../../../scripts/setup/tar.ts";
import { checkSha256 } from "../../../scripts/support/hash.ts";
import { ROOT } from "../../../scripts/support/root.ts";

test("a tarball that isn't the pinned one is refused with both values", () => {
  const tgz = new TextEncoder().encode("something else");
  const integrity = (text: string) => `sha512-${createHash("sha512").update(text).digest("base64")}`;
  const pin = { package: "p", version: "1.2.3", integrity: integrity("the pinned one") };
  assert.throws(() => checkIntegrity(tgz, pin), (error: Error) => {
    for (const part of [pin.integrity, integrity("something else"), "p 1.2.3"]) {
      assert.ok(error.message.includes(part), part);
    }
    return true;
  });
  checkIntegrity(tgz, { ...pin, integrity: integrity("something else") });
});

test("a file that isn't the pinned one is refused with both values", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ggml-ffi-test-"));
  try {
    const path = join(folder, "model");
    await writeFile(path, "abc");
    const right = createHash("sha256").update("abc").digest("hex");
    const wrong = "0".repeat(64);
    await checkSha256(path, right, "model");
    await assert.rejects(
      checkSha256(path, wrong, "model"),
      (error: Error) => error.message.includes(right) && error.message.includes(wrong),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("another pin is another folder", () => {
  const pin = { integrity: "sha512-a", commit: "0123456789abcdef" };
  assert.notEqual(sourceFolder("/c", "x", pin), sourceFolder("/c", "x", { ...pin, integrity: "sha512-b" }));
  assert.ok(sourceFolder("/c", "x", pin).startsWith(join("/c", "sources", "x-0123456-")));
});

test("every pin names package, version, hash, commit or folders, and licence", async () => {
  const pins = JSON.parse(await readFile(join(ROOT, "csrc/sources.json"), "utf8")) as Record<
    string,
    Record<string, unknown>
  >;
  assert.notDeepEqual(Object.keys(pins), []);
  for (const pin of Object.values(pins)) {
    assert.match(String(pin["integrity"]), /^sha512-[A-Za-z0-9+/]{86}==$/);
    if (pin["gitBundle"] !== undefined) assert.match(String(pin["commit"]), /^[0-9a-f]{40}$/);
    else assert.notDeepEqual(Object.keys(pin["folders"] as object), []);
    for (const field of ["package", "version", "license"]) assert.equal(typeof pin[field], "string", field);
  }
});

test("a tarball's files come with their paths, long ones too", () => {
  const long = `package/${"deep/".repeat(40)}file`;
  const tgz = gzipSync(tar([
    { path: "package/a.txt", type: "0", text: "first" },
    { path: "PaxHeader", type: "x", text: pax(long) },
    { path: "package/short", type: "0", text: "second" },
    { path: "package/folder", type: "5", text: "" },
    { path: "package/empty", type: "0", text: "" },
  ]));
  const files = [...filesOf(tgz)].map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]);
  assert.deepEqual(files, [["package/a.txt", "first"], [long, "second"], ["package/empty", ""]]);
});

test("a tarball cut off inside a file is refused", () => {
  const whole = tar([{ path: "package/a.txt", type: "0", text: "x".repeat(2000) }]);
  assert.throws(() => [...filesOf(gzipSync(whole.subarray(0, 1024)))], /ends inside package\/a\.txt/);
});

interface Entry {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function tar(entries: readonly Entry[]): Uint8Array {
  const blocks = entries.map(({ path, type, text }) => {
    const bytes = new Uint8Array(512 + Math.ceil(text.length / 512) * 512);
    const put = (at: number, part: string) => bytes.set(new TextEncoder().encode(part), at);
    put(0, path);
    put(124, `${text.length.toString(8).padStart(11, "0")}\0`);
    put(156, type);
    put(512, text);
    return bytes;
  });
  return Buffer.concat([...blocks, new Uint8Array(1024)]);
}

/** A record of a pax header says its own length. */
function pax(path: string): string {
  const rest = ` path=${path}\n`;
  const length = rest.length + String(rest.length + 3).length;
  return `${length}${rest}`;
}
