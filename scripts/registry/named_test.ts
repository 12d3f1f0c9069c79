/** Stands for `node:test` in an instrumented tree: the probe learns which test runs. */

import process from "node:process";
import { test as nodeTest, type TestContext } from "node:test";
import { TEST } from "./probe.ts";

export { after, afterEach, before, beforeEach } from "node:test";

type Work = (context: TestContext) => unknown;

/** `test` of `node:test`. */
export function test(name: string, ...more: readonly [Work] | readonly [object, Work]): void {
  const work = more.at(-1) as Work;
  const named: Work = (context) => {
    process.env[TEST] = name;
    return work(context);
  };
  if (more.length === 1) void nodeTest(name, named as never);
  else void nodeTest(name, more[0] as object, named as never);
}

export default test;
