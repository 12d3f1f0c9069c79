/** Schedulers, and devices in TypeScript. */

import { Graph, JsDevice, ops, Scheduler } from "../../../../lib/ggml/mod.ts";
import type { Recipe } from "../../scene.ts";
import { context, cpu, lose, places, products } from "./parts.ts";

/** A graph in a scheduler. */
const scheduled: Recipe = {
  name: "scheduler",
  states: ["fresh", "in use", "disposed", "lost"],
  async make(stage) {
    const { below, state } = stage;
    const { context: made, tensors, graph, fill } = products(await context(false), stage);
    const backend = cpu(stage);
    const scheduler = new Scheduler([backend]);
    scheduler.allocate(graph);
    fill();
    stage.keep(scheduler, made, graph, ...tensors, ...places(backend));
    if (state === "lost") return await lose(stage, tensors.at(-1), () => scheduler.compute(graph));
    if (state !== "in use") return;
    if (below(2) === 0) return await stage.during(scheduler.compute(graph));
    await stage.during(evaluate(scheduler, graph));
  },
};

/** Goes through the nodes slowly. */
async function evaluate(scheduler: Scheduler, graph: Graph): Promise<void> {
  for await (const node of scheduler.evaluate(graph)) await Promise.resolve(node);
}

/** A device in TypeScript, whose functions make calls. */
const device: Recipe = {
  name: "TypeScript device",
  states: ["fresh", "in callback", "disposed"],
  async make(stage) {
    const { below, state, act } = stage;
    const mine = await JsDevice.create({
      name: `js${below(1000)}`,
      supports: (node) => {
        stage.keep(node);
        if (state === "in callback" && below(4) === 0) act();
        return node.op !== "NONE";
      },
      compute: (node) => {
        stage.keep(node, ...node.sources);
        if (state === "in callback") act();
      },
      ...(below(2) === 0 ? {} : { offloads: () => below(2) === 0 }),
    });
    const [backend, second] = [mine.device.open(), cpu(stage)];
    const made = await context(false);
    const a = made.tensor("f32", [4]).setInput();
    const squares = ops.sqr(made, a);
    const sum = ops.sum(made, ops.sqrt(made, squares));
    const graph = new Graph(made).forward(sum);
    const scheduler = new Scheduler([backend, second]);
    const event = mine.device.event();
    event.record(backend);
    stage.keep(
      mine,
      mine.device,
      mine.device.bufferType,
      backend,
      second,
      made,
      a,
      squares,
      sum,
      graph,
      scheduler,
      event,
    );
    scheduler.allocate(graph);
    scheduler.computeSync(graph);
  },
};

/** The recipes. */
export const schedulers: readonly Recipe[] = [scheduled, device];
