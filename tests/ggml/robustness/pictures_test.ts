// What console.log, util.inspect and String() show of the objects of ./ggml.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import {
  BufferType,
  GgmlContext,
  GgufFile,
  Graph,
  GraphAllocator,
  JsDevice,
  NativeGguf,
  ops,
  Registry,
  Scheduler,
  writeGguf,
} from "../../../lib/ggml/mod.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReference } from "../reference.ts";

const registry = await Registry.open();
const { device } = await openReference();
const cpu = registry.device("CPU").open({ threads: 1 });
const context = await GgmlContext.create({ maxTensors: 4, dataBytes: 1024 });
const tensor = context.from([1, 2, 3, 4, 5, 6, 7]).setName("x");
const sum = ops.sum(context, tensor);
const graph = new Graph(context, { size: 8 }).forward(sum);

const folder = mkdtempSync(join(tmpdir(), "ggml-pictures-"));
const path = join(folder, "a.gguf");
await writeGguf(path, { metadata: { "general.name": "a" }, tensors: [] });
const file = await GgufFile.open(path);

const pictures: readonly (readonly [object, RegExp])[] = [
  [context, /^GgmlContext \d+(\.\d)? kB of \d+(\.\d)? kB$/],
  [tensor, /^Tensor x f32 \[7\] \[1, 2, 3, …, 7\]$/],
  [ops.sqr(context, tensor), /^Tensor tensor f32 \[7\]/],
  [graph, /^Graph 1 nodes, 1 leaves, at most 8$/],
  [registry, /^Registry with .*CPU/],
  [registry.device("CPU"), /^Device CPU \(.+\), cpu$/],
  [registry.registration("CPU"), /^BackendModule CPU, 1 devices$/],
  [cpu, /^Backend CPU, 1 threads$/],
  [BufferType.cpu(context.native), /^BufferType CPU$/],
  [cpu.alloc(2000), /^BackendBuffer CPU, 2\.\d kB, any$/],
  [device.event(), /^BackendEvent$/],
  [new Scheduler([cpu]), /^Scheduler of CPU, 0 splits$/],
  [new GraphAllocator(cpu.bufferType), /^GraphAllocator 0 B$/],
  [cpu.plan(graph), /^GraphPlan on CPU$/],
  [await JsDevice.create({ name: "Mine", supports: () => false, compute: () => {} }), /^JsDevice Mine$/],
  [await NativeGguf.empty(), /^NativeGguf version 3, 0 keys, 0 tensors$/],
  [file, /^GgufFile version 3, 1 keys, 0 tensors$/],
];

for (const [object, picture] of pictures) {
  test(`a picture: ${object.constructor.name} ${picture}`, () => {
    assert.match(String(object), picture);
    assert.equal(inspect(object), String(object));
    assert.equal(inspect({ object }), `{ object: ${object} }`);
  });
}

test("pictures of what was disposed", async () => {
  await file.dispose();
  rmSync(folder, { recursive: true });
  const gone = await GgmlContext.create({ dataBytes: 1024 });
  const [one, two] = [gone.from([1]), new Graph(gone)];
  gone.dispose();
  assert.equal(String(gone), "GgmlContext (disposed)");
  assert.equal(String(one), "Tensor (disposed)");
  assert.equal(String(two), "Graph (disposed)");
  const buffer = cpu.alloc(64);
  buffer.dispose();
  assert.equal(String(buffer), "BackendBuffer (disposed)");
  const unallocated = (await GgmlContext.create()).tensor("f32", [3]);
  assert.equal(String(unallocated), "Tensor tensor f32 [3], no memory");
  const large = (await GgmlContext.create({ dataBytes: 1 << 24 })).tensor("f32", [1 << 20]).zero();
  assert.equal(String(large), "Tensor tensor f32 [1048576] [0, 0, 0, …, 0]");
});
