import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { thunkCode } from "../../ffi/call/thunk.ts";
import { ABORTS, guardCode } from "../../ffi/containment/guard_code.ts";
import { cacheFolder } from "../../scripts/setup/cache.ts";
import { ensureZig } from "../../scripts/setup/zig.ts";
import { TemporaryFolder } from "./support.ts";

const zig = await ensureZig(cacheFolder());
const DATA = 0x1234_5678_9abc_0000n;

/** The code that Zig's assembler makes of a source beside its bytes. */
function assemble(source: string, target: "x86_64" | "aarch64"): Uint8Array {
  using folder = new TemporaryFolder();
  const object = join(folder.path, "code.o");
  const path = fileURLToPath(new URL(`../../ffi/${source}_${target}.S`, import.meta.url));
  const defines = [`-DDATA=0x${DATA.toString(16)}`, `-DABORTS=${ABORTS}`];
  execFileSync(zig, ["cc", "-target", `${target}-linux-musl`, ...defines, "-c", path, "-o", object], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return textSection(readFileSync(object));
}

/** The section `.text` of an ELF file of 64 bits. */
function textSection(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const table = Number(view.getBigUint64(40, true));
  const sections = Array.from({ length: view.getUint16(60, true) }, (_, index) => {
    const at = table + index * view.getUint16(58, true);
    const [offset, size] = [24, 32].map((field) => Number(view.getBigUint64(at + field, true)));
    return { name: view.getUint32(at, true), bytes: file.subarray(offset ?? 0, (offset ?? 0) + (size ?? 0)) };
  });
  const names = sections[view.getUint16(62, true)]?.bytes ?? new Uint8Array();
  const nameOf = (at: number): string => new TextDecoder().decode(names.subarray(at, names.indexOf(0, at)));
  return sections.find(({ name }) => nameOf(name) === ".text")?.bytes ?? new Uint8Array();
}

const hex = (bytes: Uint8Array): string[] => new Uint8Array(bytes).toHex().match(/.{8}/g) ?? [];

/** That the assembler's bytes are the built-in ones, and nothing but them. */
function same(built: Uint8Array | undefined, source: string, target: "x86_64" | "aarch64"): void {
  assert.ok(built !== undefined && built.length > 100);
  assert.deepEqual(hex(assemble(source, target)), hex(built));
}

test("the thunk's bytes are what its assembly source gives, on each processor", () => {
  same(thunkCode("sysv"), "call/thunk", "x86_64");
  same(thunkCode("aapcs64"), "call/thunk", "aarch64");
});

test("the guard's bytes are what its assembly source gives, on each processor", () => {
  same(guardCode("x64", DATA)?.bytes, "containment/guard", "x86_64");
  same(guardCode("arm64", DATA)?.bytes, "containment/guard", "aarch64");
});
