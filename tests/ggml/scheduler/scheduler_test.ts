import assert from "node:assert/strict";
import { after, test } from "node:test";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Scheduler } from "../../../lib/ggml/scheduler/scheduler.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import { allocateIn, openReference } from "../reference.ts";

const { registry, device, live } = await openReference();
const cpu = registry.device("CPU").open({ threads: 1 });
const reference = device.open();
after(() => reference[Symbol.dispose]());
after(() => cpu[Symbol.dispose]());
/** Other test files of the same process may have some too. */
const before = live();

interface Program extends Disposable {
  readonly graph: Graph;
  readonly inputs: readonly Tensor[];
  readonly nodes: Readonly<Record<"product" | "sum" | "result", Tensor>>;
  write(): void;
}

/** relu(a · b + c), whose values are known. */
async function program(): Promise<Program> {
  const context = await GgmlContext.create({ maxTensors: 64 });
  const a = context.tensor("f32", [8, 3], "a").setInput();
  const b = context.tensor("f32", [8, 2], "b").setInput();
  const c = context.tensor("f32", [3], "c").setInput();
  const product = ops.mulMat(context, a, b).setName("product");
  const sum = ops.add(context, product, c).setName("sum");
  const result = ops.relu(context, sum).setName("result").setOutput();
  const graph = new Graph(context, { size: 32 }).forward(result);
  const write = (): void => {
    a.write(Array.from({ length: 24 }, (_, index) => index % 5 - 2));
    b.write(Array.from({ length: 16 }, (_, index) => index % 3 - 1));
    c.write([10, -10, 0]);
  };
  return {
    graph,
    inputs: [a, b, c],
    nodes: { product, sum, result },
    write,
    [Symbol.dispose]: () => {
      graph.dispose();
      context.dispose();
    },
  };
}

function expected(): number[] {
  const found: number[] = [];
  for (let column = 0; column < 2; column++) {
    for (let row = 0; row < 3; row++) {
      let sum = [10, -10, 0][row]!;
      for (let k = 0; k < 8; k++) sum += ((row * 8 + k) % 5 - 2) * ((column * 8 + k) % 3 - 1);
      found.push(Math.max(0, sum));
    }
  }
  return found;
}

const values = (tensor: Tensor): number[] => Array.from(tensor.read(), Number);

test("a graph split between two backends by hand: parts, copies, values, again and again", async () => {
  using work = await program();
  using scheduler = new Scheduler([reference, cpu], { graphSize: 64 });
  const { product, sum, result } = work.nodes;
  scheduler.assign(product, reference);
  scheduler.assign(sum, cpu);
  scheduler.assign(result, reference);
  assert.equal(scheduler.split(work.graph), 3);
  scheduler.allocate(work.graph);
  assert.equal(scheduler.splitCount, 3);
  assert.equal(scheduler.copyCount, 1);
  assert.deepEqual([product, sum, result].map((node) => scheduler.backendOf(node)?.name), [
    "Reference",
    "CPU",
    "Reference",
  ]);
  assert.ok(scheduler.bufferSize(reference) > 0 && scheduler.bufferSize(cpu) > 0);
  assert.equal(scheduler.bufferType(reference).name, "Reference");
  for (let round = 0; round < 3; round++) {
    work.write();
    await scheduler.compute(work.graph);
    assert.deepEqual(values(result), expected());
  }
  work.write();
  scheduler.computeSync(work.graph);
  assert.deepEqual(values(result), expected());
  assert.deepEqual(work.graph.nodes[0]!.sources.map((one) => one?.name.includes("a")), [true, false]);
  scheduler.reset();
  assert.equal(result.isAllocated, false);
  assert.deepEqual(product.sources.map((one) => one?.name), ["a", "b"]);
  assert.equal(scheduler.split(work.graph), 1);
});

test("several graphs one after another; reserve makes room for the largest", async () => {
  using scheduler = new Scheduler([reference, cpu], { graphSize: 64 });
  using first = await program();
  using second = await program();
  const sizes = scheduler.reserveSizes(first.graph);
  assert.equal(sizes.length, 2);
  assert.ok(sizes[1]! > 0);
  scheduler.reserve(first.graph);
  assert.equal(scheduler.bufferSize(cpu), sizes[1]);
  for (const work of [first, second, first]) {
    scheduler.allocate(work.graph);
    work.write();
    await scheduler.compute(work.graph);
    assert.deepEqual(values(work.nodes.result), expected());
  }
  assert.equal(second.nodes.result.isAllocated, false);
  assert.equal(scheduler.bufferSize(cpu), sizes[1]);
});

test("nodes as they are computed, in order, each readable while it is shown", async () => {
  using work = await program();
  using scheduler = new Scheduler([reference, cpu], { graphSize: 64 });
  scheduler.assign(work.nodes.sum, reference);
  scheduler.allocate(work.graph);
  work.write();
  const shown: [string, number[]][] = [];
  for await (const node of scheduler.evaluate(work.graph)) shown.push([node.name, values(node)]);
  assert.deepEqual(shown.map(([name]) => name), ["product", "sum", "result"]);
  assert.deepEqual(shown[2]![1], expected());
  assert.deepEqual(shown[1]![1].map((value) => Math.max(0, value)), expected());
  work.write();
  const some: string[] = [];
  for await (const node of scheduler.evaluate(work.graph, { filter: ({ op }) => op === "ADD" })) some.push(node.name);
  assert.deepEqual(some, ["sum"]);
  work.write();
  for await (const node of scheduler.evaluate(work.graph)) {
    assert.equal(node.name, "product");
    break;
  }
  await assert.rejects(async () => {
    work.write();
    for await (const node of scheduler.evaluate(work.graph)) throw new Error(`at ${node.name}`);
  }, { message: "at product" });
  work.write();
  await scheduler.compute(work.graph);
  assert.deepEqual(values(work.nodes.result), expected());
});

test("weights decide where a node is computed; a backend may take large ones off the last", async () => {
  using weightsContext = await GgmlContext.create();
  const weights = weightsContext.tensor("f32", [64, 8], "weights");
  using buffer = allocateIn(weightsContext, cpu.bufferType);
  buffer.usage = "weights";
  weights.write(Array.from({ length: 512 }, (_, index) => index % 3));
  using context = await GgmlContext.create();
  const few = ops.mulMat(context, weights, context.tensor("f32", [64, 2], "few").setInput()).setName("small");
  const many = ops.mulMat(context, weights, context.tensor("f32", [64, 40], "many").setInput()).setName("large");
  using graph = new Graph(context).forward(few, many);
  const placed = (opOffload: boolean): (string | undefined)[] => {
    using scheduler = new Scheduler([reference, cpu], { opOffload });
    scheduler.allocate(graph);
    return [few, many].map((node) => scheduler.backendOf(node)?.name);
  };
  assert.deepEqual(placed(false), ["CPU", "CPU"]);
  assert.deepEqual(placed(true), ["CPU", "Reference"]);
});

test("several copies of inputs", async () => {
  using work = await program();
  using scheduler = new Scheduler([reference, cpu], { graphSize: 64, parallel: true });
  assert.ok(scheduler.copyCount > 1);
  scheduler.assign(work.nodes.product, reference);
  scheduler.allocate(work.graph);
  work.write();
  await scheduler.compute(work.graph);
  scheduler.synchronize();
  assert.deepEqual(values(work.nodes.result), expected());
});

test("what a scheduler can't be made of", () => {
  assert.throws(() => new Scheduler([]), { code: "INVALID_ARGUMENT" });
  assert.throws(() => new Scheduler("cpu" as never), { code: "INVALID_ARGUMENT" });
  assert.throws(() => new Scheduler([cpu, cpu]), { code: "INVALID_ARGUMENT", message: /once/ });
  assert.throws(() => new Scheduler([cpu], { graphSize: 0 }), { code: "INVALID_ARGUMENT", value: 0 });
  assert.throws(() => new Scheduler([cpu], { size: 9 } as never), { code: "INVALID_ARGUMENT", value: "size" });
  assert.throws(() => new Scheduler([reference, cpu], { bufferTypes: [cpu.bufferType] }), { code: "INVALID_ARGUMENT" });
  const wrong = { bufferTypes: [cpu.bufferType, cpu.bufferType] };
  assert.throws(() => new Scheduler([reference, cpu], wrong), { code: "UNSUPPORTED_OPERATION" });
  const closed = device.open();
  closed[Symbol.dispose]();
  assert.throws(() => new Scheduler([closed, cpu]), { code: "DISPOSED" });
});

test("graphs that it can't take are refused, and it works after", async () => {
  using scheduler = new Scheduler([reference, cpu], { graphSize: 8 });
  using only = new Scheduler([reference], { graphSize: 8 });
  using context = await GgmlContext.create({ maxTensors: 64 });
  const x = context.tensor("f32", [4], "x").setInput();
  let y = x;
  for (let step = 0; step < 20; step++) y = ops.sqr(context, y);
  using long = new Graph(context).forward(y);
  assert.throws(() => scheduler.allocate(long), { code: "GRAPH", message: /graphSize/ });
  using own = await GgmlContext.create({ dataBytes: 1024 });
  using inside = new Graph(own).forward(ops.sqr(own, own.from([1, 2, 3])));
  await assert.rejects(scheduler.compute(inside), { code: "NOT_ALLOCATED", message: /context/ });
  const group = ops.groupNorm(context, context.tensor("f32", [4, 4, 2], "image"), 2);
  using unsupported = new Graph(context).forward(group);
  await assert.rejects(only.compute(unsupported), { code: "UNSUPPORTED_OPERATION", message: /GROUP_NORM/ });
  assert.throws(() => scheduler.assign(group, reference), { code: "UNSUPPORTED_OPERATION" });
  assert.throws(() => only.assign(group, cpu), { code: "INVALID_ARGUMENT" });
  const z = ops.sqr(context, x).setOutput();
  using short = new Graph(context).forward(z);
  scheduler.allocate(short);
  x.write([1, 2, 3, 4]);
  await scheduler.compute(short);
  assert.deepEqual(values(z), [1, 4, 9, 16]);
});

test("an index outside of its tensor is refused before it is computed", async () => {
  using scheduler = new Scheduler([reference, cpu]);
  using context = await GgmlContext.create();
  const table = context.tensor("f32", [2, 3], "table").setInput();
  const rows = context.tensor("i32", [2], "rows").setInput();
  const found = ops.getRows(context, table, rows).setOutput();
  using graph = new Graph(context).forward(found);
  scheduler.allocate(graph);
  table.write([1, 2, 3, 4, 5, 6]);
  rows.write([0, 3]);
  await assert.rejects(scheduler.compute(graph), { code: "INVALID_ARGUMENT", value: 3 });
  table.write([1, 2, 3, 4, 5, 6]);
  rows.write([2, 0]);
  await scheduler.compute(graph);
  assert.deepEqual(values(found), [5, 6, 1, 2]);
});

test("cancelled before it begins, used while it works, used after its end", async () => {
  using work = await program();
  const scheduler = new Scheduler([reference, cpu], { graphSize: 64 });
  scheduler.allocate(work.graph);
  work.write();
  await assert.rejects(scheduler.compute(work.graph, { signal: AbortSignal.abort("no") }), (error) => error === "no");
  const run = scheduler.compute(work.graph);
  assert.throws(() => scheduler.reset(), { code: "BACKEND", message: /await/ });
  assert.throws(() => scheduler.computeSync(work.graph), { code: "BACKEND" });
  scheduler[Symbol.dispose]();
  await run;
  assert.throws(() => scheduler.splitCount, { code: "DISPOSED" });
  await assert.rejects(scheduler.compute(work.graph), { code: "DISPOSED" });
});

test("the graph and its context may be disposed while it works", async () => {
  using scheduler = new Scheduler([reference, cpu], { graphSize: 64 });
  const work = await program();
  scheduler.allocate(work.graph);
  work.write();
  const run = scheduler.compute(work.graph);
  work[Symbol.dispose]();
  await run;
  assert.throws(() => work.nodes.result.read(), { code: "DISPOSED" });
  scheduler.reset();
});

test("nothing of our backend is left", () => assert.deepEqual(live(), before));
