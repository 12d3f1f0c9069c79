import assert from "node:assert/strict";
import { test } from "node:test";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import { compareBackends } from "../../../lib/ggml/backend/graph_copy.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Registry } from "../../../lib/ggml/backend/registry.ts";
import { Scheduler } from "../../../lib/ggml/scheduler/scheduler.ts";
import { JsDevice, type JsDeviceOptions } from "../../../lib/ggml/js_device/js_device.ts";
import type { JsNode } from "../../../lib/ggml/js_device/node.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import { getBytes, getRows, setRows } from "../../../lib/ggml/backend/tensor_copy.ts";
import { allocateIn } from "../reference.ts";

const registry = await Registry.open();
const values = (tensor: Tensor): number[] => Array.from(tensor.read(), Number);

/** Products of matrices, sums and ReLU, in plain loops. */
const operators: Readonly<Record<string, (node: JsNode) => void>> = {
  ADD: ({ data, shape, sources: [a, b] }) => {
    const [x, y] = [a!.data as Float32Array, b!.data as Float32Array];
    for (let index = 0; index < data.length; index++) data[index] = x[index]! + y[index % shape[0] % y.length]!;
  },
  RELU: ({ data, sources: [a] }) => (data as Float32Array).set((a!.data as Float32Array).map((x) => Math.max(0, x))),
  MUL_MAT: ({ data, shape: [rows, columns], sources: [a, b] }) => {
    const [weights, inputs] = [a!.data as Float32Array, b!.data as Float32Array];
    const size = a!.shape[0];
    for (let column = 0; column < columns; column++) {
      for (let row = 0; row < rows; row++) {
        let sum = 0;
        for (let k = 0; k < size; k++) sum += weights[row * size + k]! * inputs[column * size + k]!;
        data[column * rows + row] = sum;
      }
    }
  },
};

const plain: JsDeviceOptions = {
  name: "Script",
  description: "loops in TypeScript",
  supports: ({ op, type, sources }) =>
    op in operators && [type, ...sources.map((one) => one.type)].every((one) => one === "f32"),
  compute: (node) => operators[node.op]!(node),
};

test("what the device says is what it was made of", async () => {
  using script = await JsDevice.create(plain);
  const { device } = script;
  assert.equal(device.name, "Script");
  assert.equal(device.description, "loops in TypeScript");
  assert.equal(device.kind, "accelerator");
  assert.deepEqual(device.memory, { free: 0, total: 0 });
  assert.equal(device.properties.capabilities.events, true);
  assert.equal(device.registration, undefined);
  assert.equal(device.bufferType.name, "Script");
  assert.equal(device.bufferType.isHost, false);
  assert.ok(device.supportsBufferType(device.bufferType));
  assert.ok(!device.supportsBufferType(registry.device("CPU").bufferType));
  assert.ok(!registry.devices.some(({ name }) => name === "Script"));
  using backend = device.open();
  assert.match(backend.guid, /^[0-9a-f]{32}$/);
  using event = device.event();
  event.record(backend);
  event.wait(backend);
  event.synchronize();
});

test("the scheduler splits a graph between it and the CPU", async () => {
  const seen: string[] = [];
  using script = await JsDevice.create({
    ...plain,
    compute: (node) => {
      seen.push(`${node.op} ${node.name}`);
      plain.compute(node);
    },
  });
  using backend = script.device.open();
  using cpu = registry.device("CPU").open({ threads: 1 });
  using scheduler = new Scheduler([backend, cpu], { graphSize: 64 });
  using context = await GgmlContext.create({ maxTensors: 32 });
  const a = context.tensor("f32", [3, 2]).setInput();
  const b = context.tensor("f32", [3, 4]).setInput();
  const c = context.tensor("f32", [2]).setInput();
  const product = ops.mulMat(context, a, b).setName("product");
  const middle = ops.tanh(context, product);
  const sum = ops.add(context, middle, c).setName("sum");
  const result = ops.relu(context, sum).setName("result").setOutput();
  using graph = new Graph(context, { size: 32 }).forward(result);
  for (const node of [product, sum, result]) scheduler.assign(node, backend);
  assert.throws(() => scheduler.assign(middle, backend), { code: "UNSUPPORTED_OPERATION" });
  scheduler.allocate(graph);
  assert.equal(scheduler.splitCount, 3);
  assert.equal(scheduler.backendOf(middle)?.name, "CPU");
  const inputs = [1, -2, 3, 0.5, 0.25, -1, 2, 0, 1, -1, -1, 2];
  for (let round = 0; round < 3; round++) {
    seen.length = 0;
    a.write([1, 2, 3, -1, 0, 1]);
    b.write(inputs);
    c.write([0.5, -0.5]);
    scheduler.computeSync(graph);
    assert.deepEqual(seen, ["MUL_MAT product", "ADD sum", "RELU result"]);
  }
  const expected = [0, 1, 2, 3].flatMap((column) => {
    const [x, y, z] = inputs.slice(column * 3) as [number, number, number];
    return [Math.tanh(x + 2 * y + 3 * z) + 0.5, Math.tanh(z - x) - 0.5].map((value) => Math.max(0, value));
  });
  for (const [index, value] of values(result).entries()) {
    assert.ok(Math.abs(value - expected[index]!) < 1e-5, `${index}`);
  }
});

test("alone, and compared with the CPU", async () => {
  using script = await JsDevice.create(plain);
  using backend = script.device.open();
  using cpu = registry.device("CPU").open({ threads: 1 });
  using context = await GgmlContext.create();
  const a = context.tensor("f32", [8, 2]);
  const result = ops.relu(context, ops.mulMat(context, a, a));
  using graph = new Graph(context).forward(result);
  using _ = allocateIn(context, cpu.bufferType);
  a.write(Array.from({ length: 16 }, (_, index) => index - 7));
  let compared = 0;
  compareBackends(cpu, backend, graph, ({ first, second }) => {
    assert.deepEqual(values(first), values(second));
    compared++;
  });
  assert.equal(compared, 2);
});

test("its memory is read, written, cleared and set by rows", async () => {
  using script = await JsDevice.create(plain);
  using context = await GgmlContext.create();
  const a = context.tensor("f32", [2, 3]);
  using buffer = allocateIn(context, script.device.bufferType);
  buffer.clear(0);
  setRows(a, Float32Array.of(1, 2, 3), { size: 4, count: 3, tensorStride: 8 });
  assert.deepEqual(values(a), [1, 0, 2, 0, 3, 0]);
  const column = new Float32Array(3);
  getRows(a, column, { size: 4, count: 3, tensorStride: 8 });
  assert.deepEqual([...column], [1, 2, 3]);
  const part = new Float32Array(2);
  getBytes(a, part, 4);
  assert.deepEqual([...part], [0, 2]);
  assert.throws(() => script.device.bufferType.alloc(2 ** 40), { code: "INVALID_ARGUMENT" });
});

test("what its functions throw becomes an error with that cause, and it works after", async () => {
  const mine = new Error("mine");
  let fails = true;
  using script = await JsDevice.create({
    ...plain,
    compute: (node) => {
      if (fails) throw mine;
      plain.compute(node);
    },
  });
  using backend = script.device.open();
  using context = await GgmlContext.create();
  const a = context.tensor("f32", [2]);
  const result = ops.relu(context, a);
  using graph = new Graph(context).forward(result);
  using _ = allocateIn(context, backend.bufferType);
  a.write([-1, 1]);
  assert.throws(() => backend.computeSync(graph), { code: "BACKEND", value: -1, cause: mine });
  fails = false;
  backend.computeSync(graph);
  assert.deepEqual(values(result), [0, 1]);
});

test("no native thread may use it", async () => {
  using script = await JsDevice.create(plain);
  using backend = script.device.open();
  using cpu = registry.device("CPU").open({ threads: 1 });
  using scheduler = new Scheduler([backend, cpu]);
  using context = await GgmlContext.create();
  using graph = new Graph(context).forward(ops.relu(context, context.tensor("f32", [2]).setInput()));
  const refused = { code: "UNSUPPORTED_OPERATION", message: /computeSync/ };
  await assert.rejects(backend.compute(graph), refused);
  await assert.rejects(scheduler.compute(graph), refused);
  await assert.rejects(scheduler.evaluate(graph).next(), refused);
});

test("bad options, and its end", async () => {
  await assert.rejects(JsDevice.create({ ...plain, name: 7 as never }), { code: "INVALID_ARGUMENT" });
  await assert.rejects(JsDevice.create({ ...plain, compute: undefined as never }), { code: "INVALID_ARGUMENT" });
  await assert.rejects(JsDevice.create({ ...plain, other: 1 } as never), { code: "INVALID_ARGUMENT" });
  const script = await JsDevice.create(plain);
  const backend = script.device.open();
  script[Symbol.dispose]();
  assert.throws(() => script.device.open(), { code: "BACKEND" });
  const type = backend.bufferType;
  const buffer = type.alloc(64);
  backend[Symbol.dispose]();
  assert.equal(script.device.name, "Script");
  buffer[Symbol.dispose]();
  assert.throws(() => script.device.name, { code: "DISPOSED" });
  assert.throws(() => type.name, { code: "DISPOSED" });
  assert.throws(() => script.device.open(), { code: "DISPOSED" });
  script[Symbol.dispose]();
});

test("a hundred devices, with backends, buffers and schedulers, one after another", async () => {
  for (let round = 0; round < 100; round++) {
    using script = await JsDevice.create(plain);
    using backend = script.device.open();
    using context = await GgmlContext.create({ maxTensors: 8 });
    const a = context.tensor("f32", [4]);
    const result = ops.relu(context, a);
    using graph = new Graph(context, { size: 8 }).forward(result);
    using _ = allocateIn(context, backend.bufferType);
    a.write([round, -round, 1, -1]);
    backend.computeSync(graph);
    assert.deepEqual(values(result), [round, 0, 1, 0]);
  }
});
