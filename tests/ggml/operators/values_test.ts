import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import fc from "fast-check";
import { open } from "../../../ffi/mod.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Draw } from "./case.ts";
import { cases } from "./cases.ts";
import { compareGradients, compareOn, compareOnCpu } from "./run.ts";
import { openReference } from "../reference.ts";

const runs = Number(process.env["OPERATOR_RUNS"] ?? 8);
const settings = { seed: 20_260_101, numRuns: runs };
const native = await open();

for (const one of cases) {
  test(`${one.name} gives the values of plain TypeScript`, () => {
    fc.assert(fc.property(fc.gen(), (generate) => compareOnCpu(native, one, one.make(new Draw(generate)))), settings);
  });
}

/** Those that always have gradients; in some draws others have none. */
const differentiable = cases.filter(({ make }) =>
  fc.sample(fc.gen(), { seed: 1, numRuns: 20 }).some((generate) => make(new Draw(generate)).gradients !== undefined)
);

for (const one of differentiable) {
  test(`${one.name}: gradients are those of finite differences`, () => {
    fc.assert(
      fc.property(fc.gen(), (generate) => {
        const sample = one.make(new Draw(generate));
        if (sample.gradients !== undefined) compareGradients(native, one, sample);
      }),
      settings,
    );
  });
}

test("the reference backend gives the values of plain TypeScript where it has the operators", async () => {
  const { device } = await openReference();
  using backend = device.open();
  const supported = new Set<string>();
  for (const one of cases) {
    fc.assert(
      fc.property(fc.gen(), (generate) => {
        if (compareOn(backend, one, one.make(new Draw(generate)))) supported.add(one.name);
      }),
      { ...settings, numRuns: Math.ceil(runs / 2) },
    );
  }
  console.log(`${supported.size} of ${cases.length} cases on the reference backend`);
  assert.ok(supported.size >= 60, `only ${supported.size} cases ran`);
});

test("every operator has a case", () => {
  const exempt = [
    "like",
    "setPrecision",
    "setOperandPrecision",
    "hintHadamard",
    "flashAttentionPrecision",
    "yarnRange",
  ];
  const covered = new Set(cases.map(({ name }) => name.split(/[ ,]/)[0]));
  const missing = Object.keys(ops).filter((name) => !covered.has(name) && !exempt.includes(name));
  assert.deepEqual(missing, []);
  const operators = Object.keys(ops).length - exempt.length;
  console.log(
    `${operators} operators, ${cases.length} cases, ${differentiable.length} of them with gradients, ${runs} random draws each`,
  );
});
