// A graph that several schedulers and backends want: one at a time gives its tensors memory, and none while another computes it.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  allocateContext,
  computeSync,
  GgmlContext,
  Graph,
  GraphAllocator,
  JsDevice,
  LinearAllocator,
  ops,
  Registry,
  Scheduler,
} from "../../../lib/ggml/mod.ts";
import { openReference } from "../reference.ts";

const registry = await Registry.open();
const cpu = registry.device("CPU").open({ threads: 1 });
const other = registry.device("CPU").open({ threads: 1 });
const reference = await openReference();
const mine = reference.device.open();
const inUse = { code: "GRAPH" };

async function squares(size = 4) {
  const context = await GgmlContext.create({ maxTensors: 16 });
  const x = context.tensor("f32", [size]).setInput();
  const square = ops.sqr(context, x);
  const sum = ops.sum(context, ops.sqrt(context, square)).setOutput();
  return { context, x, square, sum, graph: new Graph(context).forward(sum) };
}

test("a scheduler takes over the graph of another one", async () => {
  const { context, x, square, sum, graph } = await squares();
  const [first, second] = [new Scheduler([mine, cpu]), new Scheduler([mine, cpu])];
  first.assign(square, mine);
  second.assign(square, cpu);
  first.allocate(graph);
  second.allocate(graph);
  x.write([1, 2, 3, 4]);
  first.dispose();
  second.computeSync(graph);
  assert.equal(sum.read()[0], 10);
  using third = new Scheduler([mine, cpu]);
  third.allocate(graph);
  assert.equal(second.backendOf(square), undefined);
  x.write([1, 2, 3, 4]);
  second.dispose();
  await third.compute(graph);
  assert.equal(sum.read()[0], 10);
  context.dispose();
});

test("memory isn't taken from a graph that another backend computes", async () => {
  const { x, sum, graph } = await squares(1 << 16);
  const scheduler = new Scheduler([cpu]);
  scheduler.allocate(graph);
  x.write(new Float32Array(1 << 16).fill(1));
  const computed = other.compute(graph);
  const next = await squares();
  using second = new Scheduler([cpu]);
  assert.throws(() => scheduler.reset(), inUse);
  assert.throws(() => scheduler.allocate(graph), inUse);
  assert.throws(() => scheduler.allocate(next.graph), inUse);
  assert.throws(() => second.allocate(graph), inUse);
  assert.throws(() => second.split(graph), inUse);
  graph.dispose();
  assert.throws(() => scheduler.reset(), inUse);
  // It goes once the computation has ended.
  scheduler.dispose();
  assert.equal(x.isAllocated, true);
  await computed;
  assert.equal(sum.isAllocated, false);
});

test("a graph isn't computed, and its context not allocated, while a scheduler allocates it", async () => {
  const { context, sum, graph } = await squares();
  const linear = new LinearAllocator(cpu.bufferType.alloc(4096));
  using allocator = new GraphAllocator(cpu.bufferType);
  using second = new Scheduler([cpu]);
  const errors: unknown[] = [];
  const refused: readonly (() => unknown)[] = [
    () => cpu.compute(graph),
    () => cpu.computeSync(graph),
    () => computeSync(graph),
    () => allocateContext(context, cpu),
    () => allocator.alloc(graph),
    () => linear.alloc(sum),
    () => linear.buffer.place(sum, 0),
    () => second.allocate(graph),
    () => graph.clear(),
    () => context.reset(),
  ];
  let asked = false;
  using device = await JsDevice.create({
    name: "asking",
    supports: () => {
      if (!asked) {
        for (const call of refused) {
          Promise.try(call).then(() => call, (error) => error).then((end) => errors.push(end));
        }
      }
      asked = true;
      return false;
    },
    compute: () => {},
  });
  using backend = device.device.open();
  using scheduler = new Scheduler([backend, cpu]);
  scheduler.allocate(graph);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(errors.length, refused.length);
  for (const error of errors) {
    assert.ok(["GRAPH", "NOT_ALLOCATED"].includes((error as { code: string }).code), String(error));
  }
  linear.buffer.dispose();
});
