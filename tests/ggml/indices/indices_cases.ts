// Bad indices by every way into an index tensor, each case a function that gives codes and results. Run by indices_child.ts: ggml reads out of bounds for them.
import {
  allocateContext,
  type Backend,
  type BackendBuffer,
  compareBackends,
  computeSync,
  connectRpc,
  copyTensor,
  fillBytes,
  GgmlContext,
  Graph,
  JsDevice,
  ops,
  Registry,
  RemoteBackend,
  RpcServer,
  Scheduler,
  setBytes,
  setRows,
  type Tensor,
} from "../../../lib/ggml/mod.ts";

/** The codes, and values, in order. */
export type Seen = (string | number | undefined)[];

const BAD = 0x3fff_ffff;
const registry = await Registry.open();
const openCpu = (): Backend => registry.device("CPU").open({ threads: 1 });

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return "none";
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  }
}

/** Three matrices, of which `ids` chooses one: the first number of the product is 10, 20 or 30. ggml checks no index of this operator. */
function choice(context: GgmlContext, ids: Tensor, table = context.tensor("f32", [1, 1, 3], "table")) {
  const one = context.tensor("f32", [1, 1, 1], "one");
  const out = ops.mulMatId(context, table, one, ids);
  const fill = (): void => {
    table.write([10, 20, 30]);
    one.write([1]);
  };
  return { table, one, out, fill };
}

/** The choice by an index tensor in a buffer, which chooses 30. */
async function chosen() {
  const cpu = openCpu();
  const context = await GgmlContext.create();
  const ids = context.tensor("i32", [1, 1], "ids");
  const parts = choice(context, ids);
  const view = ops.view(context, ids, [1]);
  const bad = context.tensor("i32", [1, 1]);
  const graph = new Graph(context).forward(parts.out);
  const buffer = allocateContext(context, cpu);
  parts.fill();
  ids.write([2]);
  bad.write([BAD]);
  return { ...parts, cpu, context, ids, view, bad, graph, buffer };
}

type Chosen = Awaited<ReturnType<typeof chosen>>;

const BYTES = Int32Array.of(BAD);
const ROWS = { size: 4, count: 1, tensorStride: 4 } as const;
const other = openCpu();

/** The ways to write an index. */
const writes: Record<string, (parts: Chosen) => unknown> = {
  "write": ({ ids }) => ids.write([BAD]),
  "writeBytes": ({ ids }) => ids.writeBytes(new Uint8Array(BYTES.buffer)),
  "write through a view": ({ view }) => view.write([-1]),
  "setBytes": ({ ids }) => setBytes(ids, BYTES),
  "setBytes of a view": ({ view }) => setBytes(view, BYTES),
  "fillBytes": ({ ids }) => fillBytes(ids, 0xff),
  "setRows": ({ ids }) => setRows(ids, BYTES, ROWS),
  "copyTensor": ({ ids, bad }) => copyTensor(bad, ids),
  "setAsync": ({ ids }) => other.setAsync(ids, BYTES),
  "setAsync of a view": ({ view }) => other.setAsync(view, BYTES),
  "setRowsAsync": ({ ids }) => other.setRowsAsync(ids, BYTES, ROWS),
  "copyAsync": ({ ids, bad }) => other.copyAsync(bad, ids, other),
  "clear of the buffer": ({ buffer }) => buffer.clear(0xff),
};

/** The ways that nothing sees: arrays over the memory. */
const arrays: Record<string, (parts: Chosen) => () => void> = {
  "an array over the tensor": ({ ids }) => {
    const array = ids.view() as Int32Array;
    return () => array[0] = BAD;
  },
  "an array over a view": ({ view }) => {
    const array = view.view() as Int32Array;
    return () => array[0] = -1;
  },
  "bytes of the buffer": ({ buffer }) => {
    const bytes = buffer.bytes();
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    const at = words.indexOf(2);
    return () => words[at] = BAD;
  },
};

async function computeCodes(graph: Graph, out: Tensor, cpu: Backend): Promise<Seen> {
  using scheduler = new Scheduler([cpu], { graphSize: 64 });
  const nodes = async (): Promise<void> => {
    for await (const node of scheduler.evaluate(graph)) node.name;
  };
  return [
    await codeOf(() => cpu.compute(graph)),
    await codeOf(() => cpu.computeSync(graph)),
    await codeOf(() => computeSync(graph)),
    await codeOf(() => scheduler.compute(graph)),
    await codeOf(() => scheduler.computeSync(graph)),
    await codeOf(nodes),
    await codeOf(() => cpu.begin(graph)),
    await codeOf(() => cpu.plan(graph).computeSync()),
    await codeOf(() => compareBackends(cpu, other, graph, () => {})),
    out.read()[0] as number,
  ];
}

export const cases: Record<string, () => Promise<Seen>> = {
  ...Object.fromEntries(
    Object.entries(writes).map(([name, write]) => [`${name}, before`, async () => {
      const parts = await chosen();
      await write(parts);
      return (await computeCodes(parts.graph, parts.out, parts.cpu)).slice(0, -1);
    }]),
  ),
  ...Object.fromEntries(
    Object.entries(writes).map(([name, write]) => [`${name}, during`, async () => {
      const parts = await chosen();
      const computed = parts.cpu.compute(parts.graph);
      const code = await codeOf(() => write(parts));
      await computed;
      const first = parts.out.read()[0] as number;
      parts.ids.write([1]);
      await parts.cpu.compute(parts.graph);
      return [code, first, parts.out.read()[0] as number];
    }]),
  ),
  ...Object.fromEntries(
    Object.entries(arrays).map(([name, take]) => [`${name}, during`, async () => {
      const parts = await chosen();
      const spoil = take(parts);
      const computed = parts.cpu.compute(parts.graph);
      spoil();
      const shown = parts.out.sources[2]?.unsafePointer === parts.ids.unsafePointer ? "the original" : "a copy";
      await computed;
      const read = parts.out.read()[0] as number;
      return [shown, read, await codeOf(() => parts.cpu.compute(parts.graph))];
    }]),
  ),
  "an array of the program's own as a buffer, during": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const ids = context.tensor("i32", [1, 1], "ids");
    const bytes = cpu.device.alignedBytes(64);
    const buffer = cpu.device.bufferFromBytes(bytes);
    buffer.place(ids, 0);
    const { out, fill } = choice(context, ids);
    const graph = new Graph(context).forward(out);
    allocateContext(context, cpu);
    fill();
    ids.write([1]);
    const computed = cpu.compute(graph);
    bytes.fill(0xff);
    await computed;
    return [out.read()[0] as number, await codeOf(() => cpu.compute(graph))];
  },
  "another tensor in the same memory": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const ids = context.tensor("i32", [1, 1], "ids");
    const twin = context.tensor("i32", [1, 1]);
    const buffer: BackendBuffer = cpu.alloc(64);
    buffer.place(ids, 0);
    buffer.place(twin, 0);
    const { out, fill } = choice(context, ids);
    const graph = new Graph(context).forward(out);
    allocateContext(context, cpu);
    fill();
    ids.write([1]);
    const computed = cpu.compute(graph);
    const codes = [await codeOf(() => twin.write([BAD])), await codeOf(() => setBytes(twin, BYTES))];
    await computed;
    twin.write([BAD]);
    return [...codes, out.read()[0] as number, await codeOf(() => cpu.compute(graph))];
  },
  "a result in the memory of its indices": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const ids = context.tensor("i32", [1, 1], "ids");
    const { out, fill } = choice(context, ids);
    const buffer = cpu.alloc(64);
    buffer.place(ids, 0);
    buffer.place(out, 0);
    allocateContext(context, cpu);
    fill();
    ids.write([1]);
    return [await codeOf(() => cpu.compute(new Graph(context).forward(out)))];
  },
  "written by the graph": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const ids = context.tensor("i32", [1, 1], "ids");
    const from = context.tensor("i32", [1, 1]);
    const written = ops.cpy(context, from, ids);
    const { out, fill } = choice(context, ids);
    const graph = new Graph(context).forward(written, out);
    allocateContext(context, cpu);
    fill();
    ids.write([0]);
    from.write([1]);
    const good = await computeCodes(graph, out, cpu);
    from.write([BAD]);
    return [...good, ...(await computeCodes(graph, out, cpu)).slice(0, -1)];
  },
  "numbers made to indices": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const numbers = context.tensor("f32", [1, 1]);
    const { out, fill } = choice(context, ops.cast(context, ops.sqr(context, numbers), "i32"));
    const graph = new Graph(context).forward(out);
    allocateContext(context, cpu);
    fill();
    numbers.write([1]);
    const good = await computeCodes(graph, out, cpu);
    numbers.write([5]);
    return [...good, ...(await computeCodes(graph, out, cpu)).slice(0, -1)];
  },
  "the places of the largest": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const numbers = context.tensor("f32", [3, 1]);
    const long = context.tensor("f32", [5, 1]);
    const parts = choice(context, ops.cont(context, ops.argsortTopK(context, numbers, 1)));
    const few = choice(context, ops.argsortTopK(context, long, 1), parts.table);
    const [graph, second] = [new Graph(context).forward(parts.out), new Graph(context).forward(few.out)];
    allocateContext(context, cpu);
    parts.fill();
    few.fill();
    numbers.write([1, 3, 2]);
    long.write([1, 2, 3, 4, 5]);
    const seen = await computeCodes(graph, parts.out, cpu);
    seen.push(await codeOf(() => cpu.compute(second)));
    long.write([1, 2, 3, 2, 1]);
    await cpu.compute(second);
    return [...seen, few.out.read()[0] as number];
  },
  "indices taken from a table of indices": async () => {
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const indices = context.tensor("i32", [1, 4]);
    const row = context.tensor("i32", [1]);
    const parts = choice(context, ops.getRows(context, indices, row));
    const graph = new Graph(context).forward(parts.out);
    allocateContext(context, cpu);
    parts.fill();
    indices.write([0, 1, 2, 3]);
    row.write([2]);
    const seen: Seen = [await codeOf(() => cpu.compute(graph))];
    indices.write([0, 1, 2, 0]);
    const array = indices.view() as Int32Array;
    const computed = cpu.compute(graph);
    array.fill(BAD);
    await computed;
    seen.push(parts.out.read()[0] as number);
    indices.write([0, 1, 2, 0]);
    row.write([4]);
    return [...seen, await codeOf(() => cpu.compute(graph))];
  },
  "a custom operator that writes": async () => {
    const context = await GgmlContext.create({ dataBytes: 1 << 16 });
    const ids = context.from(Int32Array.of(1), [1, 1]);
    const array = ids.view() as Int32Array;
    const sorted = ops.argsortTopK(context, context.from([1, 2, 3], [3, 1]), 1);
    let bad = 1;
    const spoil = ops.mapCustom(context, [context.from([1])], () => {
      array[0] = BAD;
      (sorted.view() as Int32Array)[0] = bad;
    });
    const first = choice(context, ids);
    const second = choice(context, sorted, first.table);
    first.fill();
    second.fill();
    const graph = new Graph(context).forward(sorted, spoil, first.out, second.out);
    computeSync(graph);
    const seen: Seen = [first.out.read()[0] as number, second.out.read()[0] as number];
    array[0] = 1;
    bad = BAD;
    return [...seen, await codeOf(() => computeSync(graph))];
  },
  "a scheduler that copies them to another device": async () => {
    using script = await JsDevice.create({
      name: "Script",
      description: "adds nothing",
      supports: ({ op }) => op === "MUL_MAT_ID" || op === "NONE",
      compute: ({ data, sources: [table, , ids] }) => {
        data[0] = (table!.data as Float32Array)[(ids!.data as Int32Array)[0] as number] as number;
      },
    });
    using backend = script.device.open();
    const cpu = openCpu();
    const context = await GgmlContext.create();
    const weights = await GgmlContext.create();
    const numbers = weights.tensor("i32", [1, 1]);
    allocateContext(weights, cpu);
    const parts = choice(context, numbers);
    for (const one of [parts.table, parts.one]) one.setInput();
    parts.out.setOutput();
    const graph = new Graph(context).forward(parts.out);
    using scheduler = new Scheduler([backend, cpu], { graphSize: 64 });
    scheduler.assign(parts.out, backend);
    scheduler.allocate(graph);
    parts.fill();
    numbers.write([1]);
    scheduler.computeSync(graph);
    const copied = parts.out.sources[2]?.unsafePointer === numbers.unsafePointer ? "not copied" : "copied";
    const seen: Seen = [copied, parts.out.read()[0] as number];
    numbers.write([BAD]);
    seen.push(await codeOf(() => scheduler.computeSync(graph)));
    numbers.write([2]);
    scheduler.computeSync(graph);
    return [...seen, parts.out.read()[0] as number];
  },
  "a backend of another process": async () => {
    await using server = await RpcServer.start({ threads: 1 });
    const { devices } = await connectRpc(server.endpoint);
    await using remote = await RemoteBackend.open(devices[0]!);
    const context = await GgmlContext.create();
    const ids = context.tensor("i32", [1, 1], "ids");
    const { table, one, out } = choice(context, ids);
    const view = ops.view(context, ids, [1]);
    const numbers = context.tensor("f32", [1, 1]);
    const made = ops.mulMatId(context, table, one, ops.cast(context, numbers, "i32"));
    const [graph, second] = [new Graph(context).forward(out), new Graph(context).forward(made)];
    await remote.allocate(context);
    await remote.write(table, [10, 20, 30]);
    await remote.write(one, [1]);
    const seen: Seen = [];
    const result = async (from: Tensor): Promise<number> => (await remote.read(from))[0] as number;
    await remote.write(ids, [1]);
    await remote.compute(graph);
    seen.push(await result(out));
    await remote.write(ids, [BAD]);
    seen.push(await codeOf(() => remote.compute(graph)));
    await remote.write(view, [2]);
    await remote.compute(graph);
    seen.push(await result(out));
    await remote.write(view, [-1]);
    seen.push(await codeOf(() => remote.compute(graph)));
    // In the order in which it is asked for.
    const order = [remote.write(ids, [0]), remote.compute(graph), remote.write(ids, [BAD])];
    await Promise.all(order);
    seen.push(await result(out), await codeOf(() => setBytes(ids, BYTES)), await codeOf(() => copyTensor(ids, ids)));
    await remote.write(numbers, [1]);
    await remote.compute(second);
    seen.push(await result(made));
    await remote.write(numbers, [7]);
    seen.push(await codeOf(() => remote.compute(second)));
    return seen;
  },
};
