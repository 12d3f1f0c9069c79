// What once ended the process, each as a function that gives the codes of what is thrown now. Run by crash_child.ts: where one of them dies, so does it.
import { brands } from "../../../lib/ggml/brands.ts";
import type { Pointer } from "../../../ffi/mod.ts";
import {
  allocateContext,
  type Backend,
  BackendBuffer,
  BufferType,
  compareBackends,
  computeSync,
  copyTensor,
  fillBytes,
  getBytes,
  getRows,
  GgmlContext,
  Graph,
  GraphAllocator,
  GraphCopy,
  JsDevice,
  type JsNode,
  LinearAllocator,
  ops,
  Registry,
  Scheduler,
  setBytes,
  setRows,
  type Tensor,
} from "../../../lib/ggml/mod.ts";

/** The codes, and values, in order. */
export type Seen = (string | number | boolean | undefined)[];

const registry = await Registry.open();
const openCpu = (): Backend => registry.device("CPU").open({ threads: 1 });

function codeOf(work: () => unknown): string {
  try {
    work();
    return "none";
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  }
}

/** A graph in a buffer: the sum of the squares of 1, 2, 3. */
async function squares() {
  const cpu = openCpu();
  const context = await GgmlContext.create();
  const x = context.tensor("f32", [3]).setInput();
  const sum = ops.sum(context, ops.sqr(context, x)).setOutput();
  const other = ops.neg(context, x);
  const graph = new Graph(context).forward(sum);
  const buffer = allocateContext(context, cpu);
  x.write([1, 2, 3]);
  return { cpu, context, x, sum, other, graph, buffer };
}

/** Every change of a graph and its context; the codes. */
function change({ graph, context, other }: { graph: Graph; context: GgmlContext; other: Tensor }): Seen {
  return [
    codeOf(() => graph.forward(other)),
    codeOf(() => graph.order(other)),
    codeOf(() => graph.select([other], 0)),
    codeOf(() => graph.backward(context)),
    codeOf(() => graph.clear()),
    codeOf(() => context.reset()),
  ];
}

export const cases: Record<string, () => Promise<Seen> | Seen> = {
  "changes during compute": async () => {
    const parts = await squares();
    const run = parts.cpu.compute(parts.graph);
    const seen = change(parts);
    seen.push(codeOf(() => parts.buffer.reset()), codeOf(() => parts.cpu.computeSync(parts.graph)));
    await run;
    return [
      ...seen,
      parts.sum.read()[0] as number,
      codeOf(() => parts.graph.clear()),
      codeOf(() => parts.context.reset()),
    ];
  },
  "changes in a loop of evaluate": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const x = context.tensor("f32", [3]).setInput();
    const sum = ops.sum(context, ops.sqr(context, x)).setOutput();
    const other = ops.neg(context, x);
    const graph = new Graph(context).forward(sum);
    const scheduler = new Scheduler([cpu]);
    scheduler.allocate(graph);
    x.write([1, 2, 3]);
    const seen: Seen = [];
    for await (const node of scheduler.evaluate(graph)) {
      seen.push(node.op, ...change({ graph, context, other }), codeOf(() => scheduler.reset()));
      seen.push(codeOf(() => cpu.computeSync(graph)), codeOf(() => scheduler.computeSync(graph)));
    }
    seen.push(sum.read()[0] as number);
    // A graph that was changed has no memory for what is new.
    graph.forward(other);
    seen.push(codeOf(() => scheduler.computeSync(graph)));
    scheduler.allocate(graph);
    context.reset();
    return [...seen, codeOf(() => scheduler.computeSync(graph)), codeOf(() => scheduler.reset())];
  },
  "changes by a custom operator": async () => {
    const context = await GgmlContext.create({ dataBytes: 1 << 16 });
    const x = context.from([1, 2, 3]);
    const other = ops.neg(context, x);
    const seen: Seen = [];
    const custom = ops.mapCustom(context, [x], (result, operand) => {
      (result.view() as Float32Array).set(operand!.view() as Float32Array);
      seen.push(...change({ graph, context, other }), codeOf(() => computeSync(graph)));
    });
    const graph: Graph = new Graph(context).forward(ops.sum(context, custom));
    computeSync(graph);
    const sum = graph.node(-1).read()[0] as number;
    // Disposed by one of its operators: the memory goes after the computation.
    const last = ops.mapCustom(context, [x], () => {
      graph2.dispose();
      context.dispose();
    });
    const graph2: Graph = new Graph(context).forward(ops.sum(context, last));
    return [...seen, sum, codeOf(() => computeSync(graph2)), context.disposed];
  },
  "another graph inside a custom operator": async () => {
    const context = await GgmlContext.create({ dataBytes: 1 << 16 });
    const inner = new Graph(context).forward(ops.mapCustom(context, [context.from([1])], () => {
      throw new RangeError("inner");
    }));
    const seen: Seen = [];
    const outer = new Graph(context).forward(ops.mapCustom(context, [context.from([1])], () => {
      seen.push(codeOf(() => computeSync(inner)));
    }));
    return [codeOf(() => computeSync(outer)), ...seen];
  },
  "changes by a device in TypeScript": async () => {
    const seen: Seen = [];
    const context = await GgmlContext.create();
    const x = context.tensor("f32", [3]).setInput();
    const square = ops.sqr(context, x);
    const other = ops.neg(context, x);
    const graph: Graph = new Graph(context).forward(ops.sum(context, square).setOutput());
    let busy = false;
    const device = await JsDevice.create({
      name: "Mine",
      supports: ({ op }) => {
        if (busy) seen.push(...change({ graph, context, other }));
        busy = false;
        return op === "SQR";
      },
      compute: ({ sources: [a], data }) => {
        a!.data.forEach((value, index) => data[index] = Number(value) ** 2);
        seen.push(...change({ graph, context, other }), codeOf(() => scheduler.computeSync(graph)));
        seen.push(codeOf(() => cpu.computeSync(graph)), codeOf(() => scheduler.reset()));
      },
    });
    const mine = device.device.open();
    const cpu = openCpu();
    const scheduler: Scheduler = new Scheduler([mine, cpu]);
    scheduler.assign(square, mine);
    busy = true;
    scheduler.allocate(graph);
    x.write([1, 2, 3]);
    scheduler.computeSync(graph);
    return [...seen, graph.node(-1).read()[0] as number];
  },
  "changes while two backends are compared": async () => {
    const parts = await squares();
    const seen: Seen = [];
    compareBackends(parts.cpu, openCpu(), parts.graph, () => {
      seen.push(...change(parts), codeOf(() => parts.cpu.computeSync(parts.graph)));
      return false;
    });
    return seen;
  },
  "a plan of a graph that is changed": async () => {
    const parts = await squares();
    const plan = parts.cpu.plan(parts.graph);
    const seen = change(parts);
    plan.computeSync();
    seen.push(parts.sum.read()[0] as number);
    plan.dispose();
    return [...seen, codeOf(() => parts.graph.clear())];
  },
  "indices written by a custom operator": async () => {
    const context = await GgmlContext.create({ dataBytes: 1 << 16 });
    const rows = context.from(new Int32Array([0]));
    const seen: Seen = [];
    const table = ops.mapCustom(context, [context.from([[1, 2], [3, 4]])], (result, operand) => {
      (result.view() as Float32Array).set(operand!.view() as Float32Array);
      seen.push(codeOf(() => rows.write([1_000_000_000])), codeOf(() => rows.zero()));
      seen.push(codeOf(() => ops.view(context, rows, [1]).write([-1])));
    });
    const graph = new Graph(context).forward(ops.getRows(context, table, rows));
    computeSync(graph);
    seen.push(graph.node(-1).read()[1] as number, codeOf(() => rows.write([1])));
    computeSync(graph);
    return [...seen, graph.node(-1).read()[1] as number];
  },
  "a graph deeper than the stack": async () => {
    const chain = async (depth: number) => {
      const context = await GgmlContext.create({ dataBytes: 512 * depth });
      const [first, other] = [context.from([1]), context.from([1])];
      // By the raw layer, since the checks of each operator would take long together.
      let pointer: Pointer<"ggml_tensor"> = first.unsafePointer;
      const { lib } = context.native;
      for (let at = 0; at < depth; at++) {
        pointer = lib.ggml_neg(context.unsafePointer, pointer) as Pointer<"ggml_tensor">;
      }
      const graph = (): Graph => new Graph(context, { size: depth + 1 });
      return { other, node: brands.context.of(context).wrap(pointer), graph };
    };
    const deep = await chain(300_000);
    const seen: Seen = [deep.graph().forward(deep.node).length];
    const { other, node, graph } = await chain(2_501);
    const graphs = [graph().forward(node), graph().order(node).forward(node), graph()];
    graphs[2]!.select([other, node], 1);
    for (const one of graphs) {
      computeSync(one);
      seen.push(one.length, node.read()[0] as number);
      node.write([0]);
    }
    return seen;
  },
  "names that are none": async () => {
    const context = await GgmlContext.create({ dataBytes: 4096 });
    const graph = new Graph(context).forward(ops.sqr(context, context.from([1])));
    const wrong: unknown[] = [undefined, null, 0, 5, 5n, {}, [], Proxy.revocable({}, {}).proxy];
    return [
      ...wrong.map((one) => codeOf(() => graph.get(one as string))),
      ...wrong.map((one) => codeOf(() => context.get(one as string))),
      ...wrong.map((one) => codeOf(() => graph.gradient(one as Tensor))),
    ];
  },
  "views in a context with memory of its own": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create({ dataBytes: 4096 });
    const tensor = context.from([1, 2, 3, 4]);
    const view = ops.view(context, tensor, [2]);
    const data = new Float32Array(2);
    const rows = { size: 8, count: 1, tensorStride: 8 };
    return [
      codeOf(() => setBytes(view, data)),
      codeOf(() => getBytes(view, data)),
      codeOf(() => fillBytes(view, 1)),
      codeOf(() => setRows(view, data, rows)),
      codeOf(() => getRows(view, data, rows)),
      codeOf(() => cpu.setAsync(view, data)),
      codeOf(() => cpu.getAsync(view, data)),
      codeOf(() => cpu.setRowsAsync(view, data, rows)),
      codeOf(() => cpu.getRowsAsync(view, data, rows)),
      codeOf(() => copyTensor(view, view)),
      codeOf(() => cpu.copyAsync(view, view, cpu)),
    ];
  },
  "views of tensors in a buffer": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const tensor = context.tensor("f32", [4]);
    const buffer = allocateContext(context, cpu);
    tensor.write([1, 2, 3, 4]);
    const view = ops.view(context, tensor, [2]);
    const target = ops.view(context, tensor, [2], { offset: 8 });
    copyTensor(view, target);
    const data = new Float32Array(2);
    getBytes(target, data);
    cpu.copyAsync(view, target, cpu);
    buffer.dispose();
    return [...data, codeOf(() => getBytes(target, data)), codeOf(() => copyTensor(view, target))];
  },
  "a leaf that no node uses, in a scheduler": async () => {
    const context = await GgmlContext.create();
    const leaf = context.tensor("f32", [3]);
    const x = context.tensor("f32", [3]).setInput();
    const sum = ops.sum(context, x).setOutput();
    const graph = new Graph(context).forward(leaf, sum);
    const alone = new Graph(context).forward(context.tensor("f32", [5]));
    const scheduler = new Scheduler([openCpu()]);
    const seen: Seen = [
      scheduler.reserveSizes(graph).length,
      codeOf(() => scheduler.reserve(graph)),
      scheduler.split(graph),
    ];
    scheduler.allocate(graph);
    x.write([1, 2, 3]);
    leaf.write([4, 5, 6]);
    scheduler.computeSync(graph);
    seen.push(sum.read()[0] as number, leaf.read()[2] as number, leaf.flags.length);
    await scheduler.compute(graph);
    for await (const node of scheduler.evaluate(graph)) seen.push(node.op);
    seen.push(codeOf(() => scheduler.reserveSizes(alone)), codeOf(() => scheduler.reserve(alone)));
    seen.push(codeOf(() => scheduler.allocate(alone)), codeOf(() => scheduler.computeSync(alone)));
    await scheduler.compute(alone);
    for await (const _ of scheduler.evaluate(alone));
    return seen;
  },
  "graphs of leaves only, the second larger": async () => {
    const context = await GgmlContext.create();
    const cpu = BufferType.cpu(context.native);
    const graphOf = (size: number): Graph => new Graph(context).forward(context.tensor("f32", [size]));
    const allocator = new GraphAllocator(cpu);
    const seen: Seen = [10, 100_000, 5].map((size) => {
      const graph = graphOf(size);
      allocator.alloc(graph);
      const [leaf] = graph.leaves;
      return leaf!.write(new Float32Array(size).fill(size)).read().at(-1) as number;
    });
    const several = new GraphAllocator(cpu, registry.device("CPU").bufferType);
    const larger = graphOf(1000);
    several.reserve(graphOf(10), () => 0);
    seen.push(codeOf(() => several.alloc(larger)));
    several.reserve(larger, () => 0).alloc(larger);
    return seen;
  },
  "tensors without elements": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const nothing = context.tensor("f32", [0, 3]);
    const empty = cpu.alloc(0);
    const seen: Seen = [codeOf(() => empty.place(nothing, 0)), codeOf(() => new LinearAllocator(empty).alloc(nothing))];
    seen.push(
      codeOf(() => new LinearAllocator(empty).alloc(nothing)),
      nothing.isAllocated,
      codeOf(() => nothing.read()),
    );
    const x = context.tensor("f32", [3]);
    const buffer = allocateContext(context, cpu);
    seen.push(x.isAllocated, nothing.isAllocated);
    buffer.dispose();
    const graph = new Graph(context).forward(context.tensor("f32", [0]));
    const allocator = new GraphAllocator(cpu.bufferType);
    allocator.alloc(graph);
    allocator.alloc(graph);
    new GraphAllocator(cpu.bufferType).alloc(graph);
    const scheduler = new Scheduler([cpu]);
    scheduler.allocate(graph);
    scheduler.computeSync(graph);
    const second = new Scheduler([openCpu()]);
    second.allocate(graph);
    second.computeSync(graph);
    return seen;
  },
  "objects that only look like it": async () => {
    const { cpu, graph, x, context } = await squares();
    const fake = <T extends object>(one: T): T => Object.create(Object.getPrototypeOf(one));
    const proxied = new Proxy(x, {});
    return [
      codeOf(() => cpu.computeSync(fake(graph))),
      codeOf(() => computeSync(fake(graph))),
      codeOf(() => ops.sqr(context, proxied)),
      codeOf(() => ops.sqr(fake(context), x)),
      codeOf(() => graph.forward(fake(x))),
      codeOf(() => new Scheduler([fake(cpu)])),
      codeOf(() => BackendBuffer.initView(fake(x))),
      codeOf(() => new GraphAllocator(fake(cpu.bufferType))),
      codeOf(() => allocateContext(context, fake(cpu))),
    ];
  },
  "nodes of a device in TypeScript, after the call that they were lent to": async () => {
    const nodes: JsNode[] = [];
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const graph = new Graph(context).forward(ops.sqr(context, context.tensor("f32", [3])));
    const script = await JsDevice.create({
      name: "Keeper",
      supports: (node) => nodes.push(node) > 0,
      compute: (node) => void nodes.push(node, ...node.sources),
    });
    const backend = script.device.open();
    const scheduler = new Scheduler([backend, cpu]);
    scheduler.computeSync(graph);
    const during = nodes.length > 2;
    for (const one of [scheduler, backend, graph, context]) one.dispose();
    script.dispose();
    const seen = nodes.flatMap((node) => [
      codeOf(() => node.name),
      codeOf(() => node.op),
      codeOf(() => node.parameters),
      codeOf(() => node.sources),
      codeOf(() => node.isContiguous),
      codeOf(() => node.data),
    ]);
    return [during, ...new Set(seen), nodes[0]?.type];
  },
  "a custom operator among others, on two threads": async () => {
    const { x, context } = await squares();
    const negative = ops.mapCustom(context, [x], (result) => void (result.view() as Float32Array).fill(2));
    const own = await GgmlContext.create({ dataBytes: 1 << 16 });
    const a = own.tensor("f32", [64, 64]).write(new Float32Array(4096));
    const product = ops.mapCustom(
      own,
      [ops.mulMat(own, a, a)],
      (result) => void (result.view() as Float32Array).fill(3),
    );
    const [small, large] = [new Graph(context).forward(negative), new Graph(own).forward(product)];
    return [
      codeOf(() => computeSync(small, { threads: 2 })),
      codeOf(() => computeSync(large, { threads: 2 })),
      codeOf(() => computeSync(large)),
      Number(product.read()[4095]),
    ];
  },
  "a graph with indices, copied while it is computed": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const indices = context.tensor("i32", [2], "indices");
    const rows = ops.getRows(context, context.tensor("f32", [2, 3]), indices);
    const graph = new Graph(context).forward(rows);
    allocateContext(context, cpu);
    indices.write([0, 1]);
    const work = cpu.compute(graph);
    const second = openCpu();
    const during = codeOf(() => new GraphCopy(second, graph));
    await work;
    return [during, codeOf(() => new GraphCopy(second, graph))];
  },
  "memory that a custom operator disposes": async () => {
    const cpu = openCpu();
    const seen: Seen = [];
    for (const kind of ["buffer", "allocator"]) {
      const context = await GgmlContext.create();
      const a = context.tensor("f32", [512, 512]);
      const first = ops.mapCustom(context, [a], () => owner.dispose());
      let last = ops.mulMat(context, first, a);
      for (let left = 4; left > 0; left--) last = ops.mulMat(context, last, a);
      const whole = new Graph(context).forward(last);
      const allocator = new GraphAllocator(cpu.bufferType);
      if (kind === "allocator") allocator.alloc(whole);
      const owner: { dispose(): void } = kind === "buffer" ? allocateContext(context, cpu) : allocator;
      const graph = new Graph(context).forward(last);
      seen.push(codeOf(() => computeSync(graph)), codeOf(() => computeSync(graph)), last.isAllocated);
    }
    return seen;
  },
  "an allocator's memory, disposed between two computations": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const a = context.tensor("f32", [256, 256]);
    let last = ops.sqr(context, a);
    for (let left = 8; left > 0; left--) last = ops.mulMat(context, last, a);
    const graph = new Graph(context).forward(last);
    const allocator = new GraphAllocator(cpu.bufferType);
    allocator.alloc(graph);
    const first = cpu.compute(graph);
    allocator.dispose();
    const second = cpu.compute(graph).then(() => "none", (error) => String(error.code));
    await first;
    return [await second, codeOf(() => cpu.computeSync(graph))];
  },
  "operands of a custom operator with holes": async () => {
    const { context } = await squares();
    return [
      codeOf(() => ops.mapCustom(context, new Array(3), () => {})),
      codeOf(() => ops.custom(context, new Array(3), () => {}, { type: "f32", shape: [1] })),
    ];
  },
  "nodes to compare that are none": async () => {
    const { cpu, graph, x } = await squares();
    const second = openCpu();
    const codes = [5, [5], [undefined], new Array(1), Object.create(Float32Array.prototype), [x], []].map((nodes) =>
      codeOf(() => compareBackends(cpu, second, graph, () => true, nodes as never))
    );
    return codes;
  },
};
