import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { hostTarget, nativeVariants, parseFeatures } from "../../../scripts/build/cpu.ts";
import { describe } from "../../../scripts/build/manifest.ts";
import { ZIG_VERSION } from "../../../scripts/setup/zig.ts";
import { ROOT } from "../../../scripts/support/root.ts";
import { countBun, countDeno } from "../../../scripts/test/counts.ts";

interface Table {
  readonly features: Record<string, Record<string, { define: string; cpu: string[] }>>;
  readonly variants: Record<string, { name: string; features: string; without?: string }[]>;
}

async function text(path: string): Promise<string> {
  return await readFile(join(ROOT, path), "utf8");
}

async function table(): Promise<Table> {
  return JSON.parse(await text("build/variants.json")) as Table;
}

const haswell = ["sse4_2", "avx", "f16c", "fma", "avx2", "bmi2"];
const avx512 = ["avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"];

for (
  const [name, features, expected] of [
    ["an old one", [], ["x64"]],
    ["a Haswell", haswell, ["x64", "haswell"]],
    ["a Haswell without BMI2", haswell.filter((f) => f !== "bmi2"), ["x64", "piledriver"]],
    ["an Alder Lake", [...haswell, "avxvnni"], ["x64", "alderlake"]],
    ["a Zen 4", [...haswell, ...avx512, "avx512vbmi", "avx512vnni", "avx512bf16", "vaes"], ["x64", "zen4"]],
    ["one with half of AVX-512", [...haswell, "avx512f", "avx512cd"], ["x64", "haswell"]],
  ] as const
) {
  test(`native variants: ${name}`, async () => {
    assert.deepEqual(nativeVariants(await table(), "x86_64-linux-gnu", new Set(features)), expected);
  });
}

test("native variants: arm64", async () => {
  const variants = (target: string, features: string[]) =>
    table().then((t) => nativeVariants(t, target, new Set(features)));
  assert.deepEqual(await variants("aarch64-linux-musl", ["dotprod", "fullfp16"]), ["armv8.0_1", "armv8.2_2"]);
  assert.deepEqual(await variants("aarch64-macos", ["dotprod", "i8mm"]), ["apple_m1", "apple_m2_m3"]);
});

test("Zig's description of the processor is read", () => {
  const said =
    'pub const cpu: std.Target.Cpu = .{\n .features = std.Target.x86.featureSet(&.{\n  .@"64bit",\n  .adx,\n  .sse4_2,\n }),\n};';
  assert.deepEqual([...parseFeatures(said)], ["64bit", "adx", "sse4_2"]);
  assert.throws(() => parseFeatures("nothing"), /processor/);
});

test("the table of variants is upstream's", async () => {
  const cmake = await text("csrc/upstream/llama.cpp/ggml/src/CMakeLists.txt");
  const upstream = new Map(
    [...cmake.matchAll(/ggml_add_cpu_backend_variant\(([\w.]+)\s*([A-Z0-9_ ]*)\)/g)].map((m) => [m[1], m[2]?.trim()]),
  );
  const { variants } = await table();
  for (const key of ["x86_64", "aarch64-linux", "aarch64-macos"]) {
    for (const { name, features, without } of variants[key] ?? assert.fail(key)) {
      assert.deepEqual(
        new Set([features, without && "NOSVE"].filter(Boolean).join(" ").split(" ")),
        new Set(upstream.get(name)?.split(" ")),
        name,
      );
    }
  }
});

test("the table is in the order of upstream's scores", async () => {
  const { features, variants } = await table();
  const scorer = await text("csrc/upstream/llama.cpp/ggml/src/ggml-cpu/arch/x86/cpu-feats.cpp");
  const weights = new Map(
    [...scorer.matchAll(/#ifdef (GGML_\w+)\n[^#]*score \+= (?:1<<(\d+)|1);/g)].map((
      m,
    ) => [m[1], 2 ** Number(m[2] ?? 0)]),
  );
  assert.ok(weights.size > 10);
  const score = (names: string) =>
    names.split(" ").reduce((sum, f) => sum + (weights.get(features["x86_64"]?.[f]?.define) ?? 0), 0);
  const scores = (variants["x86_64"] ?? []).map((v) => score(v.features));
  assert.deepEqual(scores, scores.toSorted((a, b) => a - b));
});

test("the host's target", () => {
  assert.equal(hostTarget({ platform: "linux", arch: "x64", musl: false }), "x86_64-linux-gnu");
  assert.equal(hostTarget({ platform: "linux", arch: "arm64", musl: true }), "aarch64-linux-musl");
  assert.equal(hostTarget({ platform: "darwin", arch: "arm64", musl: false }), "aarch64-macos");
  assert.equal(hostTarget({ platform: "win32", arch: "x64", musl: false }), "x86_64-windows");
  assert.throws(() => hostTarget({ platform: "linux", arch: "riscv64", musl: false }), /riscv64/);
});

test("every target of set-up is one of build.zig's", async () => {
  const zig = await text("build/targets.zig");
  for (const arch of ["x64", "arm64"]) {
    for (const [platform, musl] of [["linux", false], ["linux", true], ["darwin", false], ["win32", false]] as const) {
      assert.ok(zig.includes(`@"${hostTarget({ platform, arch, musl })}",\n`));
    }
  }
});

test("set-up brings the Zig that build.zig wants", async () => {
  assert.ok((await text("build.zig")).includes(`const pinned = "${ZIG_VERSION}";`));
});

test("the manifest describes each library", async () => {
  const folder = await mkdtemp(join(tmpdir(), "ggml-ffi-test-"));
  try {
    const put = async (path: string, content: string) => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    };
    const version = (name: string, parts: number[]) =>
      ["MAJOR", "MINOR", "PATCH"].map((part, i) => `set(${name}_VERSION_${part} ${parts[i]})`).join("\n");
    await put("up/CMakeLists.txt", version("LLAMA", [1, 2, 3]));
    await put("up/ggml/CMakeLists.txt", version("GGML", [4, 5, 6]));
    await put("speech/CMakeLists.txt", version("WHISPER", [8, 9, 10]));
    await put("up/ggml/src/ggml-backend-impl.h", "  #define GGML_BACKEND_API_VERSION 7\n");
    for (const name of ["libllama.so", "libggml-cpu-zen4.so", "libggml-rpc.so", "note.txt"]) {
      await put(`out/${name}`, name);
    }
    const common = (name: string) => ({
      name,
      size: name.length,
      sha256: createHash("sha256").update(name).digest("hex"),
    });
    const upstream = [
      { name: "llama.cpp", sources: join(folder, "up"), pin: { commit: "abc" } },
      { name: "whisper.cpp", sources: join(folder, "speech"), pin: {} },
    ];
    assert.deepEqual(await describe(join(folder, "out"), "x86_64-linux-gnu", upstream), {
      format: 1,
      target: "x86_64-linux-gnu",
      ggmlVersion: "4.5.6",
      llamaVersion: "1.2.3",
      whisperVersion: "8.9.10",
      commit: "abc",
      backendApiVersion: 7,
      files: [
        { ...common("libggml-cpu-zen4.so"), kind: "backend", variant: "zen4" },
        { ...common("libggml-rpc.so"), kind: "backend", library: "ggml-rpc" },
        { ...common("libllama.so"), kind: "library", library: "llama" },
      ],
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the runners' closing lines are counted", () => {
  assert.deepEqual(countDeno("running\nok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)\n"), {
    passed: 12,
    failed: 0,
    skipped: 1,
  });
  assert.deepEqual(countDeno("FAILED | 1 passed | 2 failed (2s)\n\nerror: Test failed"), {
    passed: 1,
    failed: 2,
    skipped: 0,
  });
  assert.deepEqual(countBun("(pass) a\n\n 7 pass\n 1 skip\n 0 fail\nRan 8 tests"), {
    passed: 7,
    failed: 0,
    skipped: 1,
  });
  assert.deepEqual(countBun("crashed"), { passed: 0, failed: 0, skipped: 0 });
});
