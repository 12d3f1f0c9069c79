import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { packNative } from "../../../scripts/pack/native.ts";
import { builtTargets, packPlatform, TARGETS } from "../../../scripts/pack/platform.ts";
import { publishOrder } from "../../../scripts/pack/publish_order.ts";
import { packageReadme } from "../../../scripts/pack/readme.ts";
import { hasSection } from "../../../scripts/pack/versions.ts";
import { filesOf } from "../../../scripts/setup/tar.ts";
import { packageVersion } from "../../../base/version.ts";
import { ROOT, runProgram, runtime } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("the targets are those of build/targets.zig", () => {
  const [, list = ""] = /pub const Name = enum \{([\s\S]*?)\n\n/.exec(read("build/targets.zig")) ?? [];
  assert.deepEqual([...TARGETS].sort(), [...list.matchAll(/@"([^"]+)"/g)].map(([, name]) => name).sort());
});

/** Folders that look like the libraries of all targets. */
function fakeLibraries(folder: string): void {
  for (const target of TARGETS) {
    const path = join(folder, target);
    mkdirSync(join(path, "licenses"), { recursive: true });
    writeFileSync(join(path, "manifest.json"), JSON.stringify({ format: 1, target, files: [] }));
    writeFileSync(join(path, "licenses", "llama.cpp-LICENSE"), "MIT");
  }
}

test("the packages of all platforms, and the one that brings them: name, system, version, licenses and notices", () => {
  // npm makes them, which takes seconds.
  if (runtime !== "bun") return;
  using folder = new TemporaryFolder();
  const [native, work, out] = ["native", "work", "out"].map((name) => folder.file(name)) as [string, string, string];
  for (const path of [work, out]) mkdirSync(path);
  fakeLibraries(native);
  const platforms = builtTargets(native).map((target) => packPlatform(target, work, out));
  packNative(platforms, work, out);
  const packages = readdirSync(out).map((name) => {
    const files = new Map([...filesOf(readFileSync(join(out, name)))].map(({ path, bytes }) => [path, bytes]));
    for (const legal of ["LICENSE", "NOTICE.md"]) assert.ok(files.has(`package/${legal}`), `${name} has no ${legal}`);
    return { ...JSON.parse(new TextDecoder().decode(files.get("package/package.json"))), files } as
      & Record<string, unknown>
      & {
        name: string;
        files: Map<string, unknown>;
      };
  });
  assert.equal(packages.length, 9);
  for (const one of packages) {
    assert.equal(one["version"], packageVersion);
    assert.equal(one["license"], "MIT");
    assert.ok(one["repository"]);
    if (one.name !== "@ggml-ffi/native") assert.ok(one.files.has("package/licenses/llama.cpp-LICENSE"));
  }
  const about = (name: string) => {
    const found = packages.find((one) => one.name === name);
    return { os: found?.["os"], cpu: found?.["cpu"], libc: found?.["libc"] };
  };
  assert.deepEqual(about("@ggml-ffi/linux-arm64-musl"), { os: ["linux"], cpu: ["arm64"], libc: ["musl"] });
  assert.deepEqual(about("@ggml-ffi/win32-x64"), { os: ["win32"], cpu: ["x64"], libc: undefined });
  assert.deepEqual(about("@ggml-ffi/darwin-arm64"), { os: ["darwin"], cpu: ["arm64"], libc: undefined });
  const bringer = packages.find(({ name }) => name === "@ggml-ffi/native");
  assert.equal(Object.keys(bringer?.["optionalDependencies"] ?? {}).length, 8);
});

test("what others depend on is published before them, and nothing unless all are there", () => {
  const platforms = TARGETS.map((_, at) => `ggml-ffi-os-${at}-1.0.0.tgz`);
  const files = ["ggml-ffi-ggml-ffi-1.0.0.tgz", "ggml-ffi-native-1.0.0.tgz", "jsr", ...platforms];
  assert.deepEqual(publishOrder(files), [...platforms, "ggml-ffi-native-1.0.0.tgz", "ggml-ffi-ggml-ffi-1.0.0.tgz"]);
  assert.throws(() => publishOrder(files.slice(0, -1)), /a release has 8 packages with libraries and two others/);
  assert.throws(() => publishOrder([]), /there are none/);
});

test("a release has a section of the changelog", () => {
  assert.ok(hasSection("# Changelog\n\n## 1.2.3\n", "1.2.3"));
  assert.ok(hasSection("## 1.2.3 (2026-12-01)\n", "1.2.3"));
  assert.ok(!hasSection("## Unreleased\n\n## 1.2.30\n", "1.2.3"));
});

test("the README of the packages leaves out what is about the repository", () => {
  assert.equal(packageReadme("# A\n\n<!-- repository -->\nx\n<!-- /repository -->\n\nb\n"), "# A\n\nb\n");
});

if (runtime === "deno") {
  test("each step of the workflows is a command of package.json with flags that it has", async () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    let steps = 0;
    for (const name of readdirSync(join(ROOT, ".github", "workflows"))) {
      for (const [, command = ""] of read(`.github/workflows/${name}`).matchAll(/^ +- run: (.*)$/gm)) {
        const [, script = "", flags = ""] = /^npm (?:run )?([\w:]+)(?: -- (.*))?$/.exec(command) ?? [];
        assert.ok(scripts[script] !== undefined, `${name}: ${command}`);
        const { code, stdout } = await runProgram(["npm", "run", "--silent", script, "--", "--help"], { cwd: ROOT });
        assert.equal(code, 0, command);
        for (const [flag] of flags.matchAll(/--[\w-]+/g)) assert.ok(stdout.includes(flag), `${command}: ${flag}`);
        steps++;
      }
    }
    assert.ok(steps >= 4);
  });
}
