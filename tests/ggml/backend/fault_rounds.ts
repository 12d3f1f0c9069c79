import { brands } from "../../../lib/ggml/brands.ts";
// What each switch of the reference backend does to a computation, and that nothing stays behind. As a program: ROUNDS=500 deno run -A tests/ggml/backend/fault_rounds.ts
import assert from "node:assert/strict";
import process from "node:process";
import type { Backend } from "../../../lib/ggml/backend/backend.ts";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import { Scheduler } from "../../../lib/ggml/scheduler/scheduler.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import { openReference, type Reference } from "../reference.ts";

/** A small product and sum through a scheduler of the reference backend and the CPU. */
interface Work extends Disposable {
  readonly scheduler: Scheduler;
  readonly graph: Graph;
  /** Writes the inputs, once the graph has memory. */
  write(): void;
  /** Throws unless the result is right. */
  check(): void;
}

async function makeWork({ device, registry }: Reference, open: () => Backend = () => device.open()): Promise<Work> {
  const stack = new DisposableStack();
  try {
    const reference = stack.use(open());
    const cpu = stack.use(registry.device("CPU").open({ threads: 1 }));
    const scheduler = stack.use(new Scheduler([reference, cpu], { graphSize: 64 }));
    const context = stack.use(await GgmlContext.create({ maxTensors: 32 }));
    const { lib } = context.native;
    const weights = context.tensor("f32", [32, 4], "weights").setInput();
    const input = context.tensor("f32", [32, 2], "input").setInput();
    const bias = context.tensor("f32", [4], "bias").setInput();
    const product = brands.context.of(context).build(
      [weights, input],
      (to) => lib.ggml_mul_mat(to, weights.unsafePointer, input.unsafePointer),
    );
    const result = brands.context.of(context).build(
      [product, bias],
      (to) => lib.ggml_add(to, product.unsafePointer, bias.unsafePointer),
    )
      .setOutput();
    const graph = stack.use(new Graph(context, { size: 16 }).forward(result));
    const owned = stack.move();
    return {
      scheduler,
      graph,
      write: () => {
        weights.write(Array.from({ length: 128 }, (_, index) => index % 7 - 3));
        input.write(Array.from({ length: 64 }, (_, index) => index % 5 - 2));
        bias.write([1, 2, 3, 4]);
      },
      check: () => assert.deepEqual([...result.read()], expected()),
      [Symbol.dispose]: () => owned.dispose(),
    };
  } catch (error) {
    stack.dispose();
    throw error;
  }
}

function expected(): number[] {
  const found: number[] = [];
  for (let column = 0; column < 2; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = row + 1;
      for (let k = 0; k < 32; k++) sum += ((row * 32 + k) % 7 - 3) * ((column * 32 + k) % 5 - 2);
      found.push(sum);
    }
  }
  return found;
}

/** The reference backend computes all of it. */
function assignAll({ scheduler, graph }: Work): void {
  for (const node of graph.nodes) scheduler.assign(node, scheduler.backends[0]!);
}

async function computeRight(work: Work): Promise<void> {
  assignAll(work);
  work.scheduler.allocate(work.graph);
  work.write();
  await work.scheduler.compute(work.graph);
  work.check();
}

/** The switches that act while it works. Each sees the typed error and then a right computation on the same objects. */
export const faults: Readonly<Record<string, (reference: Reference, work: Work) => Promise<void>>> = {
  async alloc_after({ fault, clear, device }, { scheduler, graph }) {
    fault("alloc_after", 0);
    assert.throws(() => device.bufferType.alloc(64), { code: "ALLOCATION", value: 64 });
    assert.throws(() => scheduler.reserve(graph), { code: "ALLOCATION" });
    assert.throws(() => scheduler.allocate(graph), { code: "ALLOCATION" });
    await assert.rejects(scheduler.compute(graph), { code: "ALLOCATION" });
    clear();
  },
  async compute_after({ fault, clear }, work) {
    await computeRight(work);
    work.write();
    fault("compute_after", 1);
    await assert.rejects(work.scheduler.compute(work.graph), { code: "BACKEND", value: -1 });
    clear();
    work.scheduler.reset();
  },
  async no_memory({ fault, clear }, work) {
    await computeRight(work);
    fault("no_memory", 1);
    await assert.rejects(work.scheduler.compute(work.graph), { code: "ALLOCATION", value: -2 });
    clear();
    work.scheduler.reset();
  },
  async slow_us({ fault, clear }, work) {
    await computeRight(work);
    work.write();
    const stop = new AbortController();
    const shown: string[] = [];
    const run = async (): Promise<void> => {
      for await (const node of work.scheduler.evaluate(work.graph, { signal: stop.signal })) {
        shown.push(node.op);
        // The second node would take ten minutes.
        fault("slow_us", 600_000_000);
        setTimeout(() => stop.abort(new Error("enough")));
      }
    };
    await assert.rejects(run(), { message: "enough" });
    assert.deepEqual(shown, ["MUL_MAT"]);
    clear();
    work.scheduler.reset();
  },
  async lost({ fault, clear, device }, work) {
    await computeRight(work);
    fault("lost", 1);
    await assert.rejects(work.scheduler.compute(work.graph), { code: "BACKEND", value: -1 });
    assert.throws(() => device.open(), { code: "BACKEND" });
    assert.throws(() => device.bufferType.alloc(64), { code: "ALLOCATION" });
    assert.throws(() => device.event(), { code: "BACKEND" });
    clear();
    work.scheduler.reset();
  },
};

/** One round of a switch: everything made, the error seen, a right computation after it, everything given back. */
export async function faultRound(reference: Reference, name: string): Promise<void> {
  const before = reference.live();
  {
    using work = await makeWork(reference);
    assignAll(work);
    await faults[name]!(reference, work);
    await computeRight(work);
  }
  assert.deepEqual(reference.live(), before);
}

/** Used by tests that look at the values themselves. */
export type { Tensor, Work };

if (import.meta.main) {
  const rounds = Number(process.env["ROUNDS"] ?? 500);
  const reference = await openReference();
  for (const name of Object.keys(faults)) {
    const marks: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      await faultRound(reference, name);
      if (round % (rounds / 5) === 0) marks.push(Math.round(process.memoryUsage.rss() / 2 ** 20));
    }
    console.log(`${name}: ${rounds} rounds, live ${JSON.stringify(reference.live())}, resident MiB ${marks.join(" ")}`);
  }
}
