// What a tensor needs of another context goes with that context: its uses are refused then, and nothing reads what isn't there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { allocateContext, GgmlContext, Graph, ops, Registry, type Tensor } from "../../../lib/ggml/mod.ts";

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
