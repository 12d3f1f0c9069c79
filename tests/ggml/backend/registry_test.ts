import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";

import { Registry } from "../../../lib/ggml/backend/registry.ts";
import { ensureReference } from "../../../scripts/build/reference.ts";
import { moduleCommand, runProgram } from "../../support/program.ts";
import { openReference } from "../reference.ts";

const registry = await Registry.open();
const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-modules-"));
after(() => rmSync(folder, { recursive: true }));

test("modules and devices by name, place and kind", () => {
  const cpu = registry.registration("cpu");
  assert.equal(cpu.name, "CPU");
  assert.equal(cpu.apiVersion, registry.native.set.backendApiVersion);
  assert.ok(registry.device("CPU").equals(cpu.device(0)));
  assert.ok(registry.device(0).equals(registry.devices[0]!));
  assert.equal(registry.deviceOfKind("cpu")?.name, "CPU");
  assert.equal(registry.best().name, "CPU");
  assert.equal(registry.device("cpu").registration?.name, "CPU");
  assert.match(registry.systemInfo, /CPU/);
});

test("what a device says of itself", () => {
  const { name, kind, memoryTotal, memoryFree, capabilities } = registry.device("CPU").properties;
  assert.equal(name, "CPU");
  assert.equal(kind, "cpu");
  assert.ok(memoryTotal >= memoryFree && memoryFree > 0);
  assert.deepEqual(registry.device("CPU").memory.total, memoryTotal);
  assert.equal(capabilities.bufferFromHostPointer, true);
  assert.equal(capabilities.events, false);
  assert.equal(registry.device("CPU").bufferType.isHost, true);
  assert.equal(registry.device("CPU").hostBufferType, undefined);
});

test("features, further buffer types and functions by proc address", () => {
  const cpu = registry.registration("CPU");
  assert.ok(Object.values(cpu.features).includes("1"));
  assert.ok(cpu.procAddress("ggml_backend_set_n_threads") !== undefined);
  assert.equal(cpu.procAddress("no_such_function"), undefined);
  assert.equal(cpu.function("no_such_function", { parameters: [], result: "void" }), undefined);
  for (const type of cpu.device(0).extraBufferTypes) assert.ok(type.alignment >= 1);
});

test("names and places that aren't there are named", () => {
  assert.throws(() => registry.device("GPU9"), { code: "INVALID_ARGUMENT", message: /"GPU9".*CPU/ });
  assert.throws(() => registry.device(99), { code: "INVALID_ARGUMENT", value: 99 });
  assert.throws(() => registry.device(-1), { code: "INVALID_ARGUMENT" });
  assert.throws(() => registry.registration("nope"), { code: "INVALID_ARGUMENT", value: "nope" });
  assert.throws(() => registry.registration("CPU").device(1), { code: "INVALID_ARGUMENT", value: 1 });
  assert.throws(() => registry.deviceOfKind("tpu" as "cpu"), { code: "INVALID_ARGUMENT", value: "tpu" });
  assert.throws(() => registry.device("CPU").open({ threads: 0 }), { code: "INVALID_ARGUMENT", value: 0 });
  assert.throws(() => registry.device("CPU").open({ threads: 100_000 }), { code: "INVALID_ARGUMENT" });
  assert.throws(() => registry.device("CPU").open({ thread: 1 } as never), { code: "INVALID_ARGUMENT" });
});

test("the scores of candidates are visible", async () => {
  const found = await registry.inspect();
  assert.ok(found.length >= 1);
  for (const one of found) {
    assert.ok(!("error" in one), one.path);
    assert.equal(typeof one.score, "number");
  }
});

test("what is no backend is refused with the reason", async () => {
  const file = (name: string, bytes: Uint8Array | string): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const good = readFileSync(await ensureReference());
  const other = new Uint8Array(good);
  new DataView(other.buffer).setUint16(18, 243, true);
  const cut = good.subarray(0, 200);
  const base = join(registry.native.set.directory, "libggml-base.so");
  const cases: [string, RegExp][] = [
    [join(folder, "nothing.so"), /can't be read/],
    [folder, /can't be read/],
    [file("empty.so", ""), /it is empty/],
    [
      file("text.so", "this is no library at all, whatever its name may say to you and me, is it?"),
      /starts with 74 68/,
    ],
    [file("riscv.so", other), /riscv.*x86_64|riscv.*aarch64/],
    [file("cut.so", cut), /can't be opened/],
    ...(process.platform === "linux" ? [[base, /doesn't export ggml_backend_init/] as [string, RegExp]] : []),
  ];
  for (const [path, message] of cases) {
    await assert.rejects(registry.load(path), { code: "BACKEND_LOAD", message });
  }
  await assert.rejects(registry.load(7 as never), { code: "INVALID_ARGUMENT" });
  await assert.rejects(registry.loadAll(join(folder, "nowhere")), { code: "BACKEND_LOAD" });
});

test("a folder's modules: the best of each kind is loaded, the others say why not", async () => {
  writeFileSync(join(folder, "libggml-broken.so"), "no");
  const { loaded, refused } = await registry.loadAll(folder);
  assert.deepEqual(loaded, []);
  assert.deepEqual(refused.map(({ path }) => path), [join(folder, "libggml-broken.so")]);
  const all = await registry.loadAll();
  assert.ok(all.loaded.some(({ name }) => name === "CPU"));
});

test("a module is loaded, taken out, and loaded again", async () => {
  const { device } = await openReference();
  assert.equal(registry.device("Reference").description, device.description);
  using backend = device.open();
  registry.unload(registry.registration("Reference"));
  assert.throws(() => registry.device("Reference"), { code: "INVALID_ARGUMENT" });
  assert.equal(backend.name, "Reference");
  using _ = backend.alloc(64);
  const again = await registry.load(await ensureReference());
  assert.ok(again.device(0).equals(device));
});

test("the last module with a CPU stays", async () => {
  await openReference();
  const reference = registry.registration("Reference");
  registry.unload(reference);
  assert.throws(() => registry.unload(registry.registration("CPU")), { code: "INVALID_ARGUMENT", message: /last/ });
  await registry.load(await ensureReference());
});

for (
  const [faults, message] of [["api_version=1", /version 1 .*has \d+/], ["score=0", /its score is 0/]] as const
) {
  test(`a module with ${faults} is refused`, async () => {
    const command = moduleCommand("tests/ggml/backend/load_child.ts");
    const { stdout, stderr, code } = await runProgram(command, { env: { GGML_REFERENCE_FAULTS: faults } });
    assert.equal(code, 0, stderr);
    const said = JSON.parse(stdout) as { code: string; message: string; after: string[] };
    assert.equal(said.code, "BACKEND_LOAD");
    assert.match(said.message, message);
    assert.deepEqual(said.after, ["CPU"]);
  });
}
