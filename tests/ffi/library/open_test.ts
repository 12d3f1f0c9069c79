import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import process from "node:process";
import test from "node:test";
import { checkVersions, Libraries } from "../../../ffi/library/libraries.ts";
import { locateLibraries } from "../../../ffi/library/locate.ts";
import { hostTarget } from "../../../ffi/library/platform.ts";
import { Native } from "../../../ffi/native.ts";
import { open } from "../../../ffi/open.ts";
import { nativeRuntime } from "../../../ffi/runtime/types.ts";
import { systemOf } from "../../../ffi/runtime/system.ts";
import { tableVersions } from "../../../ffi/tables/versions.ts";
import { librariesIn, runModule, TemporaryFolder } from "../support.ts";

test("open gives one object a process, and refuses a second set", async () => {
  const native = await open();
  assert.equal(await open(), native);
  for (const path of [native.set.directory, `${native.set.directory}/`, join(native.set.directory, "manifest.json")]) {
    assert.equal(await open({ libraryPath: path }), native);
  }
  assert.equal(native.runtime, "deno" in process.versions ? "deno" : "bun");
  assert.equal(native.set.target, hostTarget());
  assert.equal(native.set.ggmlVersion, tableVersions.ggmlVersion);
  await assert.rejects(open({ libraryPath: join(native.set.directory, "..") }), { code: "INVALID_ARGUMENT" });
});

test("one CPU backend is loaded", async () => {
  const native = await open();
  const { lib } = native;
  const names = Array.from(
    { length: Number(lib.ggml_backend_reg_count()) },
    (_, index) => native.readCString(lib.ggml_backend_reg_name(lib.ggml_backend_reg_get(BigInt(index))!)),
  );
  assert.deepEqual(names.filter((name) => name === "CPU"), ["CPU"]);
});

test("the CPU backend with the highest score is chosen; known scores spare opening the others", async () => {
  const system = systemOf(await nativeRuntime());
  const set = locateLibraries();
  const scores = new Map(
    set.files.filter((file) => file.variant !== undefined).map((file) => {
      const score = system.open(join(set.directory, file.name)).bind("ggml_backend_score", {
        parameters: [],
        result: "i32",
      })!;
      return [file.name, score() as number];
    }),
  );
  const best = [...scores].sort(([, a], [, b]) => b - a)[0]![0];
  assert.equal(new Libraries(system, set).cpu, best);
  const known = set.files.map((file) => scores.has(file.name) ? { ...file, score: scores.get(file.name)! } : file);
  const libraries = new Libraries(system, { ...set, files: known });
  assert.equal(libraries.cpu, best);
  assert.deepEqual(libraries.opened().checked, [best]);
});

test("calls of each library", async () => {
  const native = await open();
  const { lib } = native;
  assert.equal(native.readCString(lib.ggml_version()), tableVersions.ggmlVersion);
  assert.equal(lib.ggml_type_size(0), 4n);
  assert.equal(native.readCString(lib.ggml_type_name(1)), "f16");
  assert.equal(lib.ggml_is_quantized(2), true);
  assert.equal(lib.llama_supports_mmap(), true);
  assert.equal(lib.ggml_cpu_has_avx512() >= 0, true);
  assert.equal(native.readCString(lib.mtmd_default_marker()).startsWith("<"), true);
  assert.equal(native.readCString(lib.ggml_backend_reg_name(lib.ggml_backend_rpc_reg()!)), "RPC");
});

test("an unknown name isn't there, a known one is", async () => {
  const { lib } = await open();
  assert.equal("llama_decode" in lib, true);
  assert.equal("llama_fly" in lib, false);
  assert.equal((lib as unknown as Record<string, unknown>)["llama_fly"], undefined);
  assert.equal(lib.llama_decode, lib.llama_decode);
});

test("addresses of symbols", async () => {
  const native = await open();
  const address = native.symbol("ggml_get_no_alloc");
  assert.equal(typeof address, "bigint");
  assert.equal(native.symbol("ggml_get_no_alloc"), address);
  assert.throws(() => native.symbol("ggml_fly" as "ggml_free"), { code: "INVALID_ARGUMENT", value: "ggml_fly" });
});

test("a folder without a manifest is refused, with what to do", async () => {
  using folder = new TemporaryFolder();
  await assert.rejects(Native.open({ libraryPath: folder.path }), (error: Error & { code: string }) => {
    assert.equal(error.code, "LIBRARY_NOT_FOUND");
    assert.ok(error.message.includes(folder.path));
    assert.ok(error.message.includes("npm run setup"));
    assert.match(error.message, /Name a folder with a manifest\.json/);
    return true;
  });
});

test("GGML_FFI_LIBRARY_PATH is the only place that is looked at", () => {
  using folder = new TemporaryFolder();
  const before = process.env["GGML_FFI_LIBRARY_PATH"];
  process.env["GGML_FFI_LIBRARY_PATH"] = folder.path;
  try {
    assert.throws(() => locateLibraries(), (error: Error & { value: unknown }) => {
      assert.deepEqual(error.value, [`GGML_FFI_LIBRARY_PATH: ${folder.path}`]);
      return true;
    });
    const other = locateLibraries({ libraryPath: librariesInNew(folder) });
    assert.equal(other.directory, join(folder.path, "set"));
  } finally {
    if (before === undefined) delete process.env["GGML_FFI_LIBRARY_PATH"];
    else process.env["GGML_FFI_LIBRARY_PATH"] = before;
  }
});

test("a folder is taken from where the program stands when it is named, and its files are never looked for elsewhere", () => {
  using folder = new TemporaryFolder();
  const path = librariesInNew(folder);
  for (const from of [folder.path, path]) {
    const before = process.cwd();
    process.chdir(from);
    try {
      const { directory } = locateLibraries({ libraryPath: relative(from, path) || "." });
      assert.equal(realpathSync(directory), realpathSync(path));
      assert.ok(isAbsolute(directory), directory);
    } finally {
      process.chdir(before);
    }
  }
  for (const libraryPath of ["", 5 as unknown as string]) {
    assert.throws(() => locateLibraries({ libraryPath }), { code: "INVALID_ARGUMENT", value: libraryPath });
  }
});

function librariesInNew(folder: TemporaryFolder): string {
  const path = join(folder.path, "set");
  mkdirSync(path);
  const before = process.env["GGML_FFI_LIBRARY_PATH"];
  delete process.env["GGML_FFI_LIBRARY_PATH"];
  librariesIn(path);
  if (before !== undefined) process.env["GGML_FFI_LIBRARY_PATH"] = before;
  return path;
}

test("libraries for another target are refused by both their names", () => {
  using folder = new TemporaryFolder();
  const path = join(librariesInNew(folder), "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as { target: string };
  rmSync(path);
  writeFileSync(path, JSON.stringify({ ...manifest, target: "riscv64-plan9" }));
  assert.throws(
    () => locateLibraries({ libraryPath: path }),
    (error: Error & { code: string }) =>
      error.code === "UNSUPPORTED_PLATFORM" && error.message.includes("riscv64-plan9") &&
      error.message.includes(hostTarget()),
  );
});

test("what can't be right is refused with an error of this library, also once the libraries are open", async () => {
  const native = await open();
  await assert.rejects(open({ libraryPath: 5 as unknown as string }), { code: "INVALID_ARGUMENT", value: 5 });
  for (const name of ["nope", "toString", 5]) {
    const wrong = { code: "INVALID_ARGUMENT", value: name };
    assert.throws(() => native.struct(name as "llama_batch"), wrong);
    assert.throws(() => native.defaults(name as "llama_model_params"), wrong);
  }
});

for (
  const [what, text] of [
    ["no JSON", "{"],
    ["another format", '{"format":2}'],
    ["no files", '{"format":1,"target":"t","ggmlVersion":"1","llamaVersion":"1","commit":"c","backendApiVersion":2}'],
    [
      "a file outside its folder",
      '{"format":1,"target":"t","ggmlVersion":"1","llamaVersion":"1","commit":"c","backendApiVersion":2,"files":[{"name":"../x.so","size":1,"sha256":"","kind":"library"}]}',
    ],
  ] as const
) {
  test(`a manifest with ${what} is refused`, () => {
    using folder = new TemporaryFolder();
    writeFileSync(join(folder.path, "manifest.json"), text);
    assert.throws(() => locateLibraries({ libraryPath: folder.path }), {
      code: "MANIFEST",
      value: join(folder.path, "manifest.json"),
    });
  });
}

test("a library of another content is refused before it is opened, with both hashes", async () => {
  using folder = new TemporaryFolder();
  const set = librariesIn(folder.path, undefined, true);
  const base = set.files.find((file) => file.library === "ggml-base")!;
  appendFileSync(join(folder.path, base.name), "x");
  await assert.rejects(
    Native.open({ libraryPath: folder.path }),
    (error: Error & { code: string; expected: string }) => {
      assert.equal(error.code, "LIBRARY_HASH");
      assert.equal(error.expected, base.sha256);
      assert.ok(error.message.includes(base.sha256) && error.message.includes(base.name));
      return true;
    },
  );
});

test("a missing library of the set is named", async () => {
  using folder = new TemporaryFolder();
  const set = librariesIn(folder.path);
  const llama = set.files.find((file) => file.library === "llama")!;
  rmSync(join(folder.path, llama.name));
  await assert.rejects(Native.open({ libraryPath: folder.path }), {
    code: "LIBRARY_NOT_FOUND",
    value: join(folder.path, llama.name),
  });
});

for (const [field, value] of [["ggmlVersion", "0.0.1"], ["llamaVersion", "9.9.9"], ["backendApiVersion", 1]] as const) {
  test(`a set of another ${field} is refused, with both named`, async () => {
    using folder = new TemporaryFolder();
    librariesIn(folder.path, (manifest) => Object.assign(manifest, { [field]: value }));
    await assert.rejects(Native.open({ libraryPath: folder.path }), (error: Error & { code: string }) => {
      assert.equal(error.code, "LIBRARY_VERSION");
      assert.ok(error.message.includes(String(value)) && error.message.includes(String(tableVersions[field])));
      return true;
    });
  });
}

test("a library that says another version than its manifest is refused", async () => {
  const runtime = await nativeRuntime();
  const libraries = new Libraries(systemOf(runtime), { ...locateLibraries(), ggmlVersion: "0.0.1" });
  assert.throws(() => checkVersions(libraries, runtime, { ...tableVersions, ggmlVersion: "0.0.1" }), {
    code: "LIBRARY_VERSION",
    value: tableVersions.ggmlVersion,
    expected: "0.0.1",
  });
});

test("no CPU backend that runs here", async () => {
  using folder = new TemporaryFolder();
  librariesIn(folder.path, (manifest) => manifest.files = manifest.files.filter((file) => file.variant === undefined));
  await assert.rejects(Native.open({ libraryPath: folder.path }), { code: "LIBRARY_NOT_FOUND" });
});

test("a file that is no library is refused with the system's words", async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, "libbad.so");
  writeFileSync(path, "no library");
  const runtime = await nativeRuntime();
  assert.throws(() => systemOf(runtime).open(path), (error: Error & { code: string }) => {
    assert.equal(error.code, "LIBRARY_OPEN_FAILED");
    assert.ok(error.message.length > path.length + 40, error.message);
    return true;
  });
});

test("GGML_FFI_TRACE=load prints each file tried and why one was refused", async () => {
  using folder = new TemporaryFolder();
  librariesIn(folder.path, (manifest) => {
    manifest.files = manifest.files.map((file) => file.library === "llama" ? { ...file, sha256: "0" } : file);
  });
  const good = await runModule("library/open_child.ts", [], { GGML_FFI_TRACE: "load" });
  assert.equal(good.code, 0);
  assert.match(good.stderr, /manifest\.json: used \(source tree\)/);
  assert.match(good.stderr, /libllama\.\w+: opened/);
  assert.match(good.stderr, /cpu-x64\.\w+: score 1\b/);
  const bad = await runModule("library/open_child.ts", [folder.path], { GGML_FFI_TRACE: "load" });
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /libllama\.\w+: refused: .*SHA-256/);
});

test("GGML_FFI_TRACE=1 prints calls", async () => {
  const { stderr, code } = await runModule("library/open_child.ts", [], { GGML_FFI_TRACE: "1" });
  assert.equal(code, 0);
  assert.match(stderr, /ggml-ffi: ggml_type_size\(1\) = 2\n/);
  assert.doesNotMatch(stderr, /: opened/);
});

test("nothing is printed without it", async () => {
  const { stderr, code } = await runModule("library/open_child.ts", [], { GGML_FFI_TRACE: "" });
  assert.equal(code, 0);
  assert.equal(stderr, "");
});

test("importing opens nothing", async () => {
  const { stdout, code } = await runModule("library/import_child.ts", [], {
    GGML_FFI_LIBRARY_PATH: join("no", "such", "folder"),
  });
  assert.equal(code, 0);
  assert.equal(stdout, "imported, nothing mapped\n");
});

if ("deno" in process.versions) {
  for (
    const [missing, ...given] of [["--allow-ffi", "--allow-read", "--allow-env"], [
      "--allow-read",
      "--allow-ffi",
      "--allow-env",
    ]] as const
  ) {
    test(`without ${missing} the error names that flag`, async () => {
      const { code, stderr } = await runModule("library/open_child.ts", [], {}, given);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`PermissionError: .* run with ${missing}`));
    });
  }

  test("the environment need not be readable, nor more files than the libraries'", async () => {
    const { directory } = locateLibraries();
    const { code, stderr } = await runModule("library/open_child.ts", [directory], {}, [
      "--allow-ffi",
      `--allow-read=${directory},/proc`,
    ]);
    assert.deepEqual([code, stderr], [0, ""]);
  });
}
