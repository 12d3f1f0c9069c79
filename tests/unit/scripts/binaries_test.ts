import assert from "node:assert/strict";
import test from "node:test";
import { compareVersions, readBinary } from "../../../scripts/binaries/mod.ts";
import { problemsOf } from "../../../scripts/targets/rules.ts";
import { elfFile, machOFile, peFile } from "./binary_files.ts";

test("an ELF library says what it is", () => {
  assert.deepEqual(readBinary(elfFile()), {
    format: "ELF",
    machine: "x86_64",
    identity: "libown.so",
    exports: ["a_function"],
    dependencies: ["libc.so.6"],
    runPaths: ["$ORIGIN"],
    imports: [{ name: "malloc", library: undefined }],
    minimum: [2, 17],
    isSigned: false,
  });
});

test("a Mach-O library says what it is", () => {
  assert.deepEqual(readBinary(machOFile()), {
    format: "Mach-O",
    machine: "aarch64",
    identity: "@rpath/libown.dylib",
    exports: ["one", "one_more", "two"],
    dependencies: ["/usr/lib/libSystem.B.dylib"],
    runPaths: ["@loader_path"],
    imports: [{ name: "malloc", library: "/usr/lib/libSystem.B.dylib" }],
    minimum: [11, 0],
    isSigned: true,
  });
});

test("a DLL says what it is", () => {
  assert.deepEqual(readBinary(peFile()), {
    format: "PE",
    machine: "x86_64",
    identity: "own.dll",
    exports: ["alpha", "beta"],
    dependencies: ["KERNEL32.dll", "WS2_32.dll"],
    runPaths: [],
    imports: [{ name: "Sleep", library: "KERNEL32.dll" }, { name: "number 7", library: "WS2_32.dll" }],
    minimum: [6, 0],
    isSigned: false,
  });
});

test("what is no shared library is refused", () => {
  for (const bytes of [[], [0x7f, 0x45], [0x4d, 0x5a], [0xcf, 0xfa, 0xed, 0xfe]]) {
    assert.throws(() => readBinary(new Uint8Array(bytes)), /not a/);
  }
  assert.throws(() => readBinary(machOFile().subarray(0, 3001)), Error);
});

test("a circle of exports ends in an error", () => {
  const file = machOFile();
  file[3030] = 0;
  assert.throws(() => readBinary(file), /circle/);
});

test("versions are compared as numbers", () => {
  assert.ok(compareVersions([2, 9], [2, 17]) < 0);
  assert.ok(compareVersions([11, 0], [10, 15]) > 0);
  assert.equal(compareVersions([11], [11, 0]), 0);
});

test("each rule of a target speaks up", () => {
  const problems = (target: string, file: Uint8Array, name: string): string =>
    problemsOf(target, [{ name, size: file.length, binary: readBinary(file) }]).join("\n");
  assert.match(problems("aarch64-linux-gnu", elfFile(), "libggml.so"), /libggml\.so: it is for x86_64/);
  assert.match(problems("x86_64-linux-gnu", elfFile(), "libggml.so"), /its table has what it doesn't export: ggml_/);
  assert.match(problems("x86_64-linux-gnu", elfFile(), "libggml.so"), /no library llama/);
  assert.match(problems("x86_64-linux-musl", elfFile(), "libggml.so"), /it needs libc\.so\.6/);
  assert.match(problems("x86_64-macos", elfFile(), "libggml.dylib"), /it is ELF, not Mach-O/);
  assert.match(
    problems("x86_64-windows", peFile(), "ggml.dll"),
    /neither its table nor another library names: alpha beta/,
  );
  assert.match(problems("x86_64-windows", peFile(), "ggml-cpu-x64.dll"), /lacks an entry point/);
  const unsigned = machOFile();
  unsigned[unsigned.indexOf(0x1d, 32)] = 0x1c;
  assert.match(problems("aarch64-macos", unsigned, "libggml.dylib"), /no signature/);
  const newer = machOFile();
  new DataView(newer.buffer).setUint32(32 + 3 * 64 + 12, 12 << 16, true);
  assert.match(problems("aarch64-macos", newer, "libggml.dylib"), /it needs 12\.0, which is newer than 11\.0/);
  const elsewhere = elfFile();
  elsewhere[elsewhere.indexOf("$".charCodeAt(0))] = "/".charCodeAt(0);
  assert.match(problems("x86_64-linux-gnu", elsewhere, "libggml.so"), /its run paths are \["\/ORIGIN"\]/);
});
