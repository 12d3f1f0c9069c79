/**
 * Ends programs in every way at every moment and compares their ends with those of a program without the library.
 *
 *   deno run -A tests/model/exits/rounds.ts [TIMES], or: bun tests/model/exits/rounds.ts [TIMES]
 */

import { readdirSync } from "node:fs";
import process from "node:process";
import { type Finished, moduleCommand, runProgram } from "../../support/program.ts";
import { TemporaryFolder } from "../../support/temporary_folder.ts";
import { moments } from "./moments.ts";

/** Ways to end. */
export const ways = [
  "process.exit",
  "runtime exit",
  "uncaught",
  "rejection",
  "falling off",
  "terminate",
  "closed output",
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGKILL",
] as const;

/** A way to end. */
export type Way = typeof ways[number];

/** One way at one moment. */
export interface Outcome {
  readonly what: string;
  /** How often it was the end of a program without the library. */
  readonly right: number;
  /** What else came. */
  readonly wrong: readonly string[];
  /** The longest from the moment to the end, in milliseconds. */
  readonly longestMs: number;
}

/** The end of a program, and what it left behind. */
interface End {
  readonly end: string;
  readonly ms: number;
}

/** Ends one program. */
async function end(way: Way, moment: string): Promise<End> {
  using folder = new TemporaryFolder();
  let insideAt = performance.now();
  let seen = false;
  const finished: Finished = await runProgram(moduleCommand("tests/model/exits/child.ts", [way, moment]), {
    cwd: folder.path,
    env: { TMPDIR: folder.path },
    onOutput(stdout, child) {
      if (seen || !stdout.includes("inside")) return;
      seen = true;
      insideAt = performance.now();
      if (way === "closed output") {
        child.stdout?.destroy();
        child.stdin?.end();
      } else if (way.startsWith("SIG")) child.kill(way as NodeJS.Signals);
    },
  });
  const { code, signal, stderr } = finished;
  const left = readdirSync(folder.path);
  const last = stderr.trim().split("\n").at(-1) ?? "";
  const inside = seen ? "" : `, never inside: ${last}`;
  return {
    end: `${signal ?? code}${inside}${left.length > 0 ? `, left ${left.join(", ")}` : ""}`,
    ms: performance.now() - insideAt,
  };
}

/** Ends programs so many times in each way at each moment. */
export async function* exits(
  times: number,
  tried: readonly Way[] = ways,
  applies: (way: Way, moment: string) => boolean = () => true,
): AsyncGenerator<Outcome> {
  for (const way of tried) {
    const expected = (await end(way, "nothing")).end;
    for (const moment of Object.keys(moments)) {
      if (moment === "nothing" || !applies(way, moment)) continue;
      const wrong: string[] = [];
      let [right, longestMs] = [0, 0];
      for (let round = 0; round < times; round++) {
        const ended = await end(way, moment);
        longestMs = Math.max(longestMs, ended.ms);
        if (ended.end === expected) right++;
        else wrong.push(`${ended.end} instead of ${expected}`);
      }
      yield { what: `${way} during ${moment}`, right, wrong, longestMs };
    }
  }
}

if (import.meta.main) {
  for await (const { what, right, wrong, longestMs } of exits(Number(process.argv[2] ?? 20))) {
    console.log(`${what}: ${right} right, at most ${longestMs.toFixed()} ms${wrong.map((one) => `, ${one}`).join("")}`);
    if (wrong.length > 0) process.exitCode = 1;
  }
}
