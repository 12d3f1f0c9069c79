// What a tensor needs of another context goes with that context: its uses are refused then, and nothing reads what isn't there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  allocateContext,
  GgmlContext,
  Graph,
  GraphAllocator,
  ops,
  Registry,
  Scheduler,
  type Tensor,
} from "../../../lib/ggml/mod.ts";

const gone = { code: "DISPOSED" };
const registry = await Registry.open();
const device = registry.device("CPU");
const backend = device.open({ threads: 1 });

/** Two ways in which a context's tensors end. */
const ends: Readonly<Record<string, (context: GgmlContext) => void>> = {
  "is disposed": (context) => context.dispose(),
  "is reset": (context) => context.reset(),
};

for (const [how, end] of Object.entries(ends)) {
  test(`a node whose source's context ${how} isn't shown to native code`, async () => {
    using weights = await GgmlContext.create({ maxTensors: 4 });
    using context = await GgmlContext.create({ maxTensors: 4 });
    const product = ops.mulMat(context, weights.tensor("q4_0", [32, 4]), context.tensor("f32", [32, 2]));
    assert.equal(product.sources.length, 2);
    assert.equal(device.supportsOperation(product), true);
    end(weights);
    for (const asker of [device, backend]) {
      assert.throws(() => asker.supportsOperation(product), gone);
      assert.throws(() => asker.offloadsOperation(product), gone);
    }
    assert.throws(() => product.sources, gone);
    using graph = new Graph(context);
    assert.throws(() => graph.forward(product), gone);
    assert.equal(product.name, "");
  });

  test(`a view of another context's memory goes when that ${how}`, async () => {
    using owner = await GgmlContext.create({ dataBytes: 1 << 20 });
    using context = await GgmlContext.create({ maxTensors: 8 });
    const whole = owner.from(new Float32Array(1 << 16).fill(7));
    const view = ops.reshape(context, whole, [1 << 8, 1 << 8]);
    const ofView = ops.transpose(context, view);
    const again = context.get(view.setName("view").name)!;
    const uses: readonly ((tensor: Tensor) => unknown)[] = [
      (tensor) => tensor.read(),
      (tensor) => tensor.readBytes(),
      (tensor) => tensor.writeBytes(new Uint8Array(4)),
      (tensor) => tensor.zero(),
      (tensor) => tensor.viewOf,
    ];
    assert.equal(again.read()[5], 7);
    const [found] = [...context.tensors()];
    const memory = view.view();
    end(owner);
    assert.equal(memory.length, 0);
    for (const tensor of [view, ofView, again, found!]) for (const use of uses) assert.throws(() => use(tensor), gone);
    for (const tensor of context.tensors()) assert.throws(() => tensor.read(), gone);
    assert.throws(() => allocateContext(context, backend), gone);
    assert.match(inspect(view), /Tensor/);
  });

  test(`nodes and sources of another context go when that ${how}`, async () => {
    using owner = await GgmlContext.create({ dataBytes: 1 << 16 });
    using context = await GgmlContext.create({ dataBytes: 1 << 16 });
    const square = ops.sqr(owner, owner.from([1, 2, 3]));
    const sum = ops.sum(context, square);
    using graph = new Graph(context).forward(sum);
    const [node, source] = [graph.node(0), sum.sources[0]!];
    assert.equal(node.elementCount + source.elementCount, 6);
    end(owner);
    for (const tensor of [node, source]) assert.throws(() => tensor.read(), gone);
  });
}

test("what an operator makes on its way goes with the other context, too", async () => {
  using context = await GgmlContext.create({ maxTensors: 16 });
  const owner = await GgmlContext.create({ dataBytes: 1 << 12 });
  const kernel = owner.tensor("f32", [2, 2, 1, 1]);
  const image = context.tensor("f32", [4, 4, 1, 1]);
  ops.conv2d(context, kernel, image);
  const views = [...context.tensors()].filter((tensor) => tensor.isView);
  assert.ok(views.length > 1);
  owner.dispose();
  assert.throws(() => allocateContext(context, backend), gone);
  assert.ok(views.some((view) => thrown(() => view.elementCount) === "DISPOSED"));
});

function thrown(work: () => unknown): string {
  try {
    work();
    return "nothing";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test("a result outlives the context of what it was computed of", async () => {
  using context = await GgmlContext.create({ maxTensors: 4 });
  const owner = await GgmlContext.create({ dataBytes: 1 << 12 });
  const sum = ops.sum(context, owner.from([1, 2, 3])).setOutput();
  const graph = new Graph(context).forward(sum);
  using _buffer = allocateContext(context, backend);
  await backend.compute(graph);
  graph.dispose();
  owner.dispose();
  assert.equal(sum.read()[0], 6);
});

const unallocated = { code: "NOT_ALLOCATED" };

test("a view made after its tensor had memory goes with the buffer", async () => {
  using context = await GgmlContext.create({ maxTensors: 8 });
  using others = await GgmlContext.create({ maxTensors: 8 });
  const x = context.tensor("f32", [8]);
  const buffer = allocateContext(context, backend);
  x.write([1, 2, 3, 4, 5, 6, 7, 8]);
  const views = [
    ops.reshape(context, x, [4, 2]),
    ops.reshape(others, x, [2, 4]),
    ops.sqr(others, x, { inPlace: true }),
  ];
  for (const view of views) assert.equal(view.read()[3], 4);
  const memory = views[1]!.view();
  buffer.dispose();
  assert.equal(memory.length, 0);
  for (const view of [x, ...views]) {
    assert.equal(view.isAllocated, false);
    assert.throws(() => view.read(), unallocated);
  }
});

test("a view made after a scheduler's or an allocator's graph had memory goes with that", async () => {
  const makers: readonly ((graph: Graph) => () => void)[] = [
    (graph) => {
      const allocator = new GraphAllocator(backend.bufferType);
      allocator.alloc(graph);
      return () => allocator.dispose();
    },
    (graph) => {
      const scheduler = new Scheduler([backend]);
      scheduler.allocate(graph);
      return () => scheduler.dispose();
    },
    (graph) => {
      const scheduler = new Scheduler([backend]);
      scheduler.allocate(graph);
      return () => scheduler.reset();
    },
  ];
  for (const make of makers) {
    using context = await GgmlContext.create({ maxTensors: 8 });
    const x = context.tensor("f32", [8]).setInput();
    const sum = ops.sum(context, x).setOutput();
    using graph = new Graph(context).forward(sum);
    const end = make(graph);
    x.write([1, 2, 3, 4, 5, 6, 7, 8]);
    const view = ops.reshape(context, x, [4, 2]);
    assert.equal(view.read()[3], 4);
    end();
    for (const tensor of [x, sum, view]) assert.throws(() => tensor.read(), unallocated);
  }
});

test("gradients that are views go with the buffer", async () => {
  using context = await GgmlContext.create({ maxTensors: 64 });
  const x = context.tensor("f32", [4, 2]).setParam();
  const buffer = allocateContext(context, backend);
  const loss = ops.sum(context, ops.reshape(context, ops.reshape(context, x, [8]), [2, 4])).setLoss();
  using _graph = new Graph(context, { gradients: true }).forward(loss).backward(context);
  buffer.dispose();
  for (const tensor of context.tensors()) assert.equal(tensor.isAllocated, false, tensor.label);
});

test("an allocator takes no memory away but its own", async () => {
  const makers: readonly ((graph: Graph, context: GgmlContext) => () => void)[] = [
    (graph) => {
      const allocator = new GraphAllocator(backend.bufferType);
      allocator.alloc(graph);
      return () => allocator.dispose();
    },
    (_, context) => {
      const buffer = allocateContext(context, backend);
      return () => buffer.dispose();
    },
    (graph) => {
      const scheduler = new Scheduler([backend]);
      scheduler.allocate(graph);
      return () => scheduler.dispose();
    },
  ];
  for (const make of makers) {
    using weights = await GgmlContext.create({ maxTensors: 4 });
    using context = await GgmlContext.create({ maxTensors: 8 });
    const x = weights.tensor("f32", [8]);
    // Made before its tensor had memory: whoever allocates the graph places it.
    const square = ops.sqr(context, ops.reshape(context, x, [4, 2])).setOutput();
    using _buffer = allocateContext(weights, backend);
    x.write([1, 2, 3, 4, 5, 6, 7, 8]);
    using graph = new Graph(context).forward(square);
    make(graph, context)();
    assert.deepEqual([...x.read()], [1, 2, 3, 4, 5, 6, 7, 8]);
  }
});
