import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import { compareBackends } from "../../../lib/ggml/backend/graph_copy.ts";
import type { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import { randomNumbers } from "../../support/random.ts";
import { type Case, cases, type Maker } from "./both.ts";
import { allocateIn, openReference } from "../reference.ts";

const rounds = Number(process.env["OPERATOR_ROUNDS"] ?? 5);
const { registry, device } = await openReference();
const cpu = registry.device("CPU").open({ threads: 1 });
const reference = device.open();
after(() => reference[Symbol.dispose]());
after(() => cpu[Symbol.dispose]());

async function round({ make, tolerance = 1e-5 }: Case, seed: number): Promise<void> {
  const next = randomNumbers(seed);
  const fills: (() => void)[] = [];
  using context = await GgmlContext.create({ maxTensors: 64 });
  const fill = (tensor: Tensor, value: () => number): Tensor => {
    fills.push(() =>
      void tensor.write(
        tensor.type === "i64"
          ? Array.from({ length: tensor.elementCount }, () => BigInt(value()))
          : Array.from({ length: tensor.elementCount }, value),
      )
    );
    return tensor;
  };
  const maker: Maker = {
    context,
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
    random: (shape, type = "f32", low = -2, high = 2) =>
      fill(context.tensor(type, shape), () => low + next() * (high - low)),
    indices: (shape, below, type = "i32") => fill(context.tensor(type, shape), () => Math.floor(next() * below)),
  };
  const result = make(maker);
  using graph = new Graph(context, { size: 64 }).forward(result);
  using _ = allocateIn(context, cpu.bufferType);
  for (const one of fills) one();
  let compared = 0;
  compareBackends(cpu, reference, graph, ({ first, second }) => {
    if (first.op !== result.op && first.type !== "f32") return;
    const [a, b] = [Array.from(first.read(), Number), Array.from(second.read(), Number)];
    const most = Math.max(...a.filter(Number.isFinite).map(Math.abs), 1e-3);
    for (const [index, value] of a.entries()) {
      const close = Object.is(value, b[index]) || Math.abs(value - b[index]!) <= tolerance * most;
      assert.ok(close, `${first.op} [${first.shape}] at ${index}: CPU ${value}, reference ${b[index]} (seed ${seed})`);
    }
    compared++;
  });
  assert.ok(compared > 0, "nothing was compared");
}

for (const one of cases) {
  test(`${one.name}: the reference backend's values are the CPU's`, async () => {
    for (let seed = 1; seed <= rounds; seed++) await round(one, seed);
  });
}
