// Ends programs in every way at every moment and counts what came of it.
// Run: deno run -A tests/model/exits.ts 50, or: bun tests/model/exits.ts 50
import process from "node:process";
import { command, run, runtime } from "./support.ts";

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

/** Ends programs so many times in each way. */
export async function exits(times: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [way, expected] of Object.entries(ways)) {
    for (const moment of moments) {
      const outcome: Outcome = { what: `${way} during ${moment}`, right: 0, wrong: [] };
      for (let round = 0; round < times; round++) {
        const { code, signal, stderr } = await run(command(runtime, "tests/model/exit_child.ts", [way, moment]));
        if (code === expected) outcome.right++;
        else outcome.wrong.push(`${signal ?? code}: ${stderr.slice(-300)}`);
      }
      outcomes.push(outcome);
    }
  }
  return outcomes;
}

if (import.meta.main) {
  const outcomes = await exits(Number(process.argv[2] ?? 50));
  for (const { what, right, wrong } of outcomes) {
    console.log(`${what}: ${right} right${wrong.map((one) => `, ${one}`).join("")}`);
  }
  process.exitCode = outcomes.every(({ wrong }) => wrong.length === 0) ? 0 : 1;
}
