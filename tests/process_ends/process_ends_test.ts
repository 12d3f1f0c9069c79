import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../support/program.ts";
import { endOnce } from "./matrix.ts";
import { ways } from "./ways.ts";

/** One moment for each way; `matrix.ts` tries all with all. */
const cases: readonly (readonly [moment: string, way: string])[] = [
  ["load", "process.exit"],
  ["prompt", "SIGTERM"],
  ["compute", "an uncaught error"],
  ["generation", "an uncaught error"],
  ["transcription", "an unhandled rejection"],
  ["compute", "a Worker's terminate"],
  ["compute", "falling off the end"],
  ["generation", "a closed stdout"],
  ["an RPC server", "SIGKILL"],
  ["writing a file", "SIGINT"],
  ["dispose", "Deno.exit"],
];

for (const [moment, way] of cases) {
  const { only = runtime } = ways[way] ?? {};
  test(
    `a program ends as an empty one does: ${way} during ${moment}`,
    { timeout: 120_000, skip: only !== runtime },
    async () => {
      assert.deepEqual((await endOnce(runtime, moment, way)).wrong, []);
    },
  );
}
