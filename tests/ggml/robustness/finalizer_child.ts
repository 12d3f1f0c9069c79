// Makes and forgets many objects of a kind, and writes how much memory was left of them in the end.
import process from "node:process";
import {
  allocateContext,
  type Backend,
  BufferType,
  Dataset,
  GgmlContext,
  Graph,
  GraphAllocator,
  GraphCopy,
  NativeGguf,
  ops,
  Registry,
  Scheduler,
  TrainingResult,
} from "../../../lib/ggml/mod.ts";
import { openReference } from "../reference.ts";

const ROUNDS = 12;
const LARGE_ROUNDS = 64;
const BYTES = 1 << 22;

const registry = await Registry.open();
const reference = await openReference();
const cpu = registry.device("CPU").open({ threads: 1 });
const mine = reference.device.open();

const collect = (globalThis as { gc?: () => void }).gc ??
  (() => (globalThis as unknown as { Bun: { gc(force: boolean): void } }).Bun.gc(true));

/** Lets the finalizers run until `done` says that they did. */
async function settle(done: () => boolean): Promise<boolean> {
  for (let round = 0; round < 200 && !done(); round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return done();
}

async function graphOf(size: number) {
  const context = await GgmlContext.create({ maxTensors: 16 });
  const x = context.tensor("f32", [size]).setInput();
  const graph = new Graph(context).forward(ops.sqr(context, ops.sqr(context, x)).setOutput());
  return { context, x, graph };
}

/** Each makes one object of 4 MiB of our own backend's memory and forgets it. */
const kinds: Record<string, () => void | Promise<void>> = {
  BackendBuffer: () => void mine.alloc(BYTES),
  "BackendBuffer of a context": async () => {
    const { context } = await graphOf(BYTES / 4);
    allocateContext(context, mine);
  },
  GraphAllocator: async () => {
    const { graph } = await graphOf(BYTES / 4);
    new GraphAllocator(mine.bufferType).alloc(graph);
  },
  Scheduler: async () => {
    const { graph } = await graphOf(BYTES / 4);
    const scheduler = new Scheduler([mine, cpu]);
    scheduler.assign(graph.node(0), mine);
    scheduler.allocate(graph);
    await scheduler.compute(graph);
  },
  Backend: () => void reference.device.open(),
  "Backend that computed": async () => {
    const { context, graph } = await graphOf(1024);
    const backend = reference.device.open();
    allocateContext(context, backend);
    await backend.compute(graph);
  },
  BackendEvent: () => void reference.device.event(),
  GraphCopy: async () => {
    const { context, graph } = await graphOf(BYTES / 4);
    allocateContext(context, mine);
    new GraphCopy(mine, graph);
  },
};

for (const [name, make] of Object.entries(kinds)) {
  const before = reference.live();
  let most = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await make();
    most = Math.max(most, reference.live().objects - before.objects);
  }
  const freed = await settle(() => {
    const now = reference.live();
    return now.objects <= before.objects && now.bytes <= before.bytes;
  });
  console.log(JSON.stringify({ name, made: most > 0, freed }));
}

/** What lies in the memory of the process, which must not grow by all that was made. */
const large: Record<string, () => void | Promise<void>> = {
  Plan: async () => {
    const { context, graph } = await graphOf(BYTES / 4);
    allocateContext(context, cpu);
    cpu.plan(graph);
  },
  "BackendBuffer of the CPU": () => void BufferType.cpu(registry.native).alloc(BYTES).clear(1),
  Dataset: async () => void await Dataset.create({ count: 1024, datapointSize: BYTES / 4096, labelSize: 1 }),
  TrainingResult: () => void new TrainingResult(registry.native),
  NativeGguf: async () => void await NativeGguf.empty(),
  GgmlContext: async () => void (await GgmlContext.create({ dataBytes: BYTES })).from([1]),
};
for (const [name, make] of Object.entries(large)) {
  const before = process.memoryUsage.rss();
  for (let round = 0; round < LARGE_ROUNDS; round++) {
    await make();
    if (round % 8 === 7) await settle(() => process.memoryUsage.rss() - before < 24 * BYTES);
  }
  const freed = await settle(() => process.memoryUsage.rss() - before < 32 * BYTES);
  console.log(JSON.stringify({ name, made: true, freed }));
}

// What is in use stays, though nobody has its owner any more.
{
  const { context, x, graph } = await graphOf(4);
  allocateContext(context, mine);
  x.write([1, 2, 3, 4]);
  for (let round = 0; round < 8; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await mine.compute(graph);
  const result = graph.node(-1).read();
  console.log(JSON.stringify({ name: "tensors keep their buffer", made: true, freed: result[3] === 256 }));
}
{
  const run = async (backend: Backend): Promise<void> => {
    const { context, graph } = await graphOf(1 << 16);
    allocateContext(context, backend);
    return backend.compute(graph);
  };
  const runs = Array.from({ length: 8 }, () => run(registry.device("CPU").open({ threads: 1 })));
  const ended = Promise.all(runs).then(() => true);
  for (let round = 0; round < 8; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  console.log(JSON.stringify({ name: "work keeps what it uses", made: true, freed: await ended }));
}
{
  const view = (await GgmlContext.create({ dataBytes: 4096 })).from([1, 2, 3]).view();
  for (let round = 0; round < 8; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  console.log(JSON.stringify({ name: "a view keeps its context", made: true, freed: view[2] === 3 }));
}
