// A graph that no check can find wrong before, and native code aborts: the raw layer gives a node a number that none of its operators has.
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Registry } from "../../../lib/ggml/backend/registry.ts";
import { Scheduler } from "../../../lib/ggml/scheduler/scheduler.ts";
import { allocateIn } from "../reference.ts";

const registry = await Registry.open();
const open = () => registry.device("CPU").open({ threads: 1 });
const codeOf = (run: Promise<unknown>): Promise<string> => run.then(() => "none", (error) => String(error.code));

const NONE = 9_999;

async function makeGraph() {
  const context = await GgmlContext.create();
  const table = context.tensor("f32", [2, 3]);
  const scores = context.tensor("f32", [5]);
  const rows = ops.neg(context, ops.getRows(context, table, ops.argmax(context, ops.view(context, scores, [3]))));
  const graph = new Graph(context).forward(rows);
  const operator = rows.struct.op_params;
  const neg = operator[0] as number;
  const buffer = allocateIn(context, registry.device("CPU").bufferType);
  table.write([1, 2, 3, 4, 5, 6]);
  scores.write([0, 1, 2, 3, 4]);
  operator[0] = NONE;
  return { table, scores, rows, graph, operator, neg, buffer };
}

const { table, scores, rows, graph, operator, neg, buffer } = await makeGraph();
const backend = open();
const first = await codeOf(backend.compute(graph));
const again = await codeOf(backend.compute(graph));
const syncCodeOf = (work: () => unknown): Promise<string> => codeOf(Promise.try(work));
const dead = [
  await syncCodeOf(() => backend.computeSync(graph)),
  await syncCodeOf(() => backend.synchronize()),
  await syncCodeOf(() => backend.threads = 2),
  await syncCodeOf(() => backend.setAsync(table, new Float32Array(6))),
];
{
  using scheduler = new Scheduler([backend]);
  dead.push(await codeOf(scheduler.compute(graph)), await syncCodeOf(() => scheduler.computeSync(graph)));
}
backend[Symbol.dispose]();

using other = open();
scores.write([0, 9, 0, 0, 0]);
operator[0] = neg;
const after = await codeOf(other.compute(graph));
const values = Array.from(rows.read(), Number);

// The lost thread uses the first graph for ever.
const second = (await makeGraph()).graph;
const scheduler = new Scheduler([other]);
const scheduled = await codeOf(scheduler.compute(second));
const scheduledAgain = await codeOf(scheduler.compute(second));
dead.push(
  await syncCodeOf(() => scheduler.computeSync(second)),
  await syncCodeOf(() => scheduler.allocate(second)),
  await syncCodeOf(() => scheduler.reserve(second)),
  await syncCodeOf(() => scheduler.reserveSizes(second)),
  await syncCodeOf(() => scheduler.split(second)),
  await syncCodeOf(() => scheduler.synchronize()),
  await syncCodeOf(() => scheduler.reset()),
);
scheduler[Symbol.dispose]();
buffer[Symbol.dispose]();
console.log(JSON.stringify({ dead: [...new Set(dead)], first, again, after, values, scheduled, scheduledAgain }));
