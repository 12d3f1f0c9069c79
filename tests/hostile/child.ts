/** Tries damaged inputs of one kind in a process of its own: `child.ts KIND SEED FIRST COUNT FOLDER`. Its last line is what became of them. */

import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { randomBelow } from "../support/random.ts";
import { kinds } from "./kinds.ts";

/** What became of the inputs. */
export interface Outcome {
  /** How many were taken as they are. */
  taken: number;
  /** How many were refused, by the error's code. */
  refused: Record<string, number>;
  /** Errors without a code, with the number of the input. */
  untyped: string[];
  /** The largest resident memory seen, in bytes. */
  residentBytes: number;
  /** The longest that one took, in milliseconds. */
  longestMs: number;
}

const [kind = "", seed = "0", first = "0", count = "0", folder = ""] = process.argv.slice(2);
const make = kinds[kind];
if (make === undefined) throw new RangeError(`there is no kind ${kind}; there are: ${Object.keys(kinds).join(", ")}`);
const attempt = await make(folder);
const progress = openSync(join(folder, "at"), "w");
const outcome: Outcome = { taken: 0, refused: {}, untyped: [], residentBytes: 0, longestMs: 0 };
for (let index = Number(first); index < Number(first) + Number(count); index++) {
  writeSync(progress, `${index}\n`);
  const started = performance.now();
  try {
    await attempt(randomBelow(Number(seed) * 1_000_003 + index));
    outcome.taken++;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (error instanceof Error && typeof code === "string") outcome.refused[code] = (outcome.refused[code] ?? 0) + 1;
    else {outcome.untyped.push(
        `${index}: ${error instanceof Error ? error.stack?.split("\n").slice(0, 3).join(" ") : error}`,
      );}
  }
  outcome.longestMs = Math.max(outcome.longestMs, performance.now() - started);
  if (index % 50 === 0) outcome.residentBytes = Math.max(outcome.residentBytes, process.memoryUsage().rss);
}
process.stdout.write(`${JSON.stringify(outcome)}\n`);
process.exit(0);
