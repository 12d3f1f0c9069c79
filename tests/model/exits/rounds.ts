// Ends programs in every way at every moment and counts what came of it.
// Run: deno run -A tests/model/exits/rounds.ts 50, or: bun tests/model/exits/rounds.ts 50
import process from "node:process";
import { command, run, runtime } from "../support.ts";

/** Ways to end, and the exit code that belongs to each. */
const ways = { "process.exit": 7, "runtime exit": 7, uncaught: 1, rejection: 1, "falling off": 0 } as const;
const moments = ["load", "prompt", "generation", "idle"] as const;

/** One way at one moment: how often it went right, and what went wrong. */
export interface Outcome {
  /** Which. */
  what: string;
  /** How often the code was right, without a signal. */
  right: number;
  /** What else came. */
  wrong: string[];
}

/** Ends programs so many times in each way; an outcome for each way and moment. */
export async function* exits(times: number): AsyncGenerator<Outcome> {
  for (const [way, expected] of Object.entries(ways)) {
    for (const moment of moments) {
      const outcome: Outcome = { what: `${way} during ${moment}`, right: 0, wrong: [] };
      for (let round = 0; round < times; round++) {
        const { code, signal, stderr } = await run(command(runtime, "tests/model/exits/child.ts", [way, moment]));
        if (code === expected) outcome.right++;
        else outcome.wrong.push(`${signal ?? code}: ${stderr.trim().split("\n").at(-1)}`);
      }
      yield outcome;
    }
  }
}

if (import.meta.main) {
  for await (const { what, right, wrong } of exits(Number(process.argv[2] ?? 50))) {
    console.log(`${what}: ${right} right${wrong.map((one) => `, ${one}`).join("")}`);
    if (wrong.length > 0) process.exitCode = 1;
  }
}
