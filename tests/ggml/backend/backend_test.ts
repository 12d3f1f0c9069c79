import assert from "node:assert/strict";
import { test } from "node:test";
import type { Backend } from "../../../lib/ggml/backend/backend.ts";
import { BackendBuffer } from "../../../lib/ggml/backend/buffer.ts";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import { compareBackends, GraphCopy } from "../../../lib/ggml/backend/graph_copy.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import { allocateIn, openReference } from "../reference.ts";

const { registry, device, live, fault, clear } = await openReference();
const cpu = registry.device("CPU").open({ threads: 1 });

interface Program extends Disposable {
  readonly context: GgmlContext;
  readonly graph: Graph;
  readonly input: Tensor;
  readonly result: Tensor;
}

/** The squares of numbers, plus one of them, in memory of a backend. */
async function program(backend: Backend): Promise<Program> {
  const context = await GgmlContext.create({ maxTensors: 32 });
  const input = context.tensor("f32", [4], "input");
  const one = context.tensor("f32", [1], "one");
  const result = ops.add(context, ops.sqr(context, input), one).setName("result");
  const graph = new Graph(context, { size: 16 }).forward(result);
  const buffer = allocateIn(context, backend.bufferType);
  input.write([1, 2, 3, 4]);
  one.write([1]);
  return {
    context,
    graph,
    input,
    result,
    [Symbol.dispose]: () => {
      graph.dispose();
      buffer[Symbol.dispose]();
      context.dispose();
    },
  };
}

const values = (tensor: Tensor): number[] => Array.from(tensor.read(), Number);
const squares = [2, 5, 10, 17];

test("an addition on the CPU backend, on the native thread and on the caller's", async () => {
  using backend = registry.device("CPU").open({ threads: 1 });
  using context = await GgmlContext.create({ dataBytes: 1 << 16 });
  const a = context.from([1, 2, 3]);
  const sum = ops.add(context, a, context.from([10, 20, 30]));
  using graph = new Graph(context).forward(sum);
  await backend.compute(graph);
  assert.deepEqual(values(sum), [11, 22, 33]);
  a.write([2, 3, 4]);
  backend.computeSync(graph);
  assert.deepEqual(values(sum), [12, 23, 34]);
});

test("what a backend says", () => {
  using backend = device.open();
  assert.equal(backend.name, "Reference");
  assert.match(backend.guid, /^[0-9a-f]{32}$/);
  assert.notEqual(backend.guid, cpu.guid);
  assert.ok(backend.device.equals(device));
  assert.equal(backend.alignment, backend.bufferType.alignment);
  assert.equal(backend.maxSize, Infinity);
  assert.equal(backend.threads, 1);
  assert.throws(() => backend.threads = 2, { code: "BACKEND", message: /no threads/ });
  assert.ok(backend.supportsBufferType(device.bufferType));
  assert.ok(!cpu.supportsBufferType(device.bufferType));
  cpu.threads = 2;
  assert.equal(cpu.threads, 2);
  cpu.threads = 1;
  assert.throws(() => cpu.threads = 1.5, { code: "INVALID_ARGUMENT" });
});

test("in every way on both backends: compute, computeSync, begin, several at once", async () => {
  for (const backend of [registry.device("CPU").open({ threads: 1 }), device.open()]) {
    using _ = backend;
    using work = await program(backend);
    await backend.compute(work.graph);
    assert.deepEqual(values(work.result), squares);
    work.input.write([0, 0, 0, 0]);
    backend.computeSync(work.graph);
    assert.deepEqual(values(work.result), [1, 1, 1, 1]);
    work.input.write([1, 2, 3, 4]);
    backend.begin(work.graph);
    backend.synchronize();
    assert.deepEqual(values(work.result), squares);
    await Promise.all([1, 2, 3, 4, 5].map(() => backend.compute(work.graph)));
    assert.deepEqual(values(work.result), squares);
  }
});

test("a plan computes again and again; our backend has none", async () => {
  using backend = registry.device("CPU").open({ threads: 1 });
  using work = await program(backend);
  const plan = backend.plan(work.graph);
  for (const input of [[1, 2, 3, 4], [4, 3, 2, 1]]) {
    work.input.write(input);
    plan.computeSync();
    assert.deepEqual(values(work.result), input.map((value) => value ** 2 + 1));
  }
  plan[Symbol.dispose]();
  assert.throws(() => plan.computeSync(), { code: "DISPOSED" });
  using other = device.open();
  using elsewhere = await program(other);
  assert.throws(() => other.plan(elsewhere.graph), { code: "BACKEND", message: /no plans/ });
});

test("what a backend can't compute is refused before native code sees it", async () => {
  using backend = device.open();
  using work = await program(cpu);
  await assert.rejects(backend.compute(work.graph), { code: "UNSUPPORTED_OPERATION", message: /memory of CPU/ });
  using context = await GgmlContext.create();
  const image = context.tensor("f32", [4, 4, 2], "image");
  using graph = new Graph(context).forward(ops.groupNorm(context, image, 2));
  assert.throws(() => backend.computeSync(graph), { code: "NOT_ALLOCATED" });
  using _ = allocateIn(context, backend.bufferType);
  await assert.rejects(backend.compute(graph), { code: "UNSUPPORTED_OPERATION", value: "GROUP_NORM" });
  assert.equal(backend.supportsOperation(graph.nodes.at(-1)!), false);
  assert.equal(cpu.supportsOperation(graph.nodes.at(-1)!), true);
  using own = await GgmlContext.create({ dataBytes: 4096 });
  const custom = ops.mapCustom(own, [own.from([1])], () => {});
  using calls = new Graph(own).forward(custom);
  await assert.rejects(cpu.compute(calls), { code: "UNSUPPORTED_OPERATION", message: /computeSync/ });
});

test("a failing one tells, and computes rightly after", async () => {
  using backend = device.open();
  using work = await program(backend);
  fault("compute_after", 1);
  await assert.rejects(backend.compute(work.graph), { code: "BACKEND", value: -1 });
  assert.throws(() => backend.begin(work.graph), { code: "BACKEND" });
  clear();
  await backend.compute(work.graph);
  assert.deepEqual(values(work.result), squares);
});

test("cancelled: before, while it waits, while it works", async () => {
  using backend = device.open();
  using work = await program(backend);
  const reason = new Error("no more");
  await assert.rejects(backend.compute(work.graph, { signal: AbortSignal.abort(reason) }), reason);
  fault("slow_us", 600_000_000);
  const stop = new AbortController();
  const runs = [
    backend.compute(work.graph, { signal: stop.signal }),
    backend.compute(work.graph, { signal: stop.signal }),
  ];
  setTimeout(() => stop.abort(reason), 20);
  for (const { status, reason: why } of await Promise.allSettled(runs) as PromiseRejectedResult[]) {
    assert.equal(status, "rejected");
    assert.equal(why, reason);
  }
  clear();
  await backend.compute(work.graph);
  assert.deepEqual(values(work.result), squares);
  await assert.rejects(backend.compute(work.graph, { signal: 7 } as never), { code: "INVALID_ARGUMENT" });
  await assert.rejects(backend.compute(work.graph, { threads: 7 } as never), { code: "INVALID_ARGUMENT" });
});

test("disposed while it works: it ends its work; used after, it throws", async () => {
  const before = live();
  const backend = device.open();
  const work = await program(backend);
  const run = backend.compute(work.graph);
  assert.throws(() => backend.computeSync(work.graph), { code: "BACKEND", message: /await/ });
  assert.throws(() => backend.synchronize(), { code: "BACKEND" });
  backend[Symbol.dispose]();
  work[Symbol.dispose]();
  await run;
  assert.throws(() => backend.alignment, { code: "DISPOSED" });
  await assert.rejects(backend.compute(work.graph), { code: "DISPOSED" });
  assert.deepEqual(live(), before);
});

test("the event loop goes on while it computes", async () => {
  using backend = device.open();
  using work = await program(backend);
  fault("slow_us", 20_000);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  await backend.compute(work.graph);
  clearInterval(timer);
  clear();
  assert.ok(ticks >= 1, "the event loop stood still");
});

test("a graph is copied to another backend, and computed there", async () => {
  using backend = device.open();
  using work = await program(cpu);
  cpu.computeSync(work.graph);
  const copy = new GraphCopy(backend, work.graph);
  work.input.write([9, 9, 9, 9]);
  await backend.compute(copy);
  const nodes = copy.nodes;
  assert.deepEqual(values(nodes.at(-1)!), squares);
  copy[Symbol.dispose]();
  assert.throws(() => copy.unsafePointer, { code: "DISPOSED" });
  assert.throws(() => nodes.at(-1)!.read(), { code: "DISPOSED" });
  fault("alloc_after", 0);
  assert.throws(() => new GraphCopy(backend, work.graph), { code: "ALLOCATION" });
  clear();
});

test("two backends are compared, node by node, some nodes, until told to end", async () => {
  using backend = device.open();
  using work = await program(cpu);
  const seen: [number, string, number[], number[]][] = [];
  compareBackends(cpu, backend, work.graph, ({ index, first, second }) => {
    seen.push([index, first.op, values(first), values(second)]);
  });
  assert.deepEqual(seen.map(([index, op]) => [index, op]), [[0, "SQR"], [1, "ADD"]]);
  assert.deepEqual(seen[1]!.slice(2), [squares, squares]);
  let calls = 0;
  compareBackends(cpu, backend, work.graph, () => ++calls < 1);
  assert.equal(calls, 1);
  compareBackends(cpu, backend, work.graph, ({ first }) => assert.equal(first.name, "result"), [work.result]);
  assert.throws(() => compareBackends(cpu, backend, work.graph, () => {}, [work.input]), { code: "GRAPH" });
  assert.throws(
    () =>
      compareBackends(cpu, backend, work.graph, () => {
        throw new Error("mine");
      }),
    { message: "mine" },
  );
});

test("tensors are put at places of a buffer, views after them", async () => {
  using buffer = cpu.alloc(256);
  using context = await GgmlContext.create();
  const a = context.tensor("f32", [4], "a");
  const view = ops.view(context, a, [2], { offset: 8 });
  assert.throws(() => BackendBuffer.initView(view), { code: "NOT_ALLOCATED" });
  const { alignment } = buffer;
  assert.throws(() => buffer.place(a, 1), { code: "INVALID_ARGUMENT", value: 1 });
  assert.throws(() => buffer.place(a, 250), { code: "INVALID_ARGUMENT" });
  assert.throws(() => buffer.place(view, 0), { code: "INVALID_ARGUMENT" });
  buffer.place(a, alignment);
  assert.throws(() => buffer.place(a, 0), { code: "INVALID_ARGUMENT" });
  BackendBuffer.initView(view);
  a.write([1, 2, 3, 4]);
  assert.deepEqual(values(view), [3, 4]);
  assert.deepEqual([...new Float32Array(buffer.bytes().buffer, alignment, 4)], [1, 2, 3, 4]);
  buffer[Symbol.dispose]();
  assert.equal(a.isAllocated, false);
  assert.throws(() => view.read(), { code: "NOT_ALLOCATED" });
});
