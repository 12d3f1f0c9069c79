// Loads, generates and disposes many times and prints the process's memory and threads.
// Run: deno run -A tests/model/memory_rounds.ts 200, or: bun tests/model/memory_rounds.ts 200
import { readdirSync } from "node:fs";
import process from "node:process";
import { testModel } from "./support.ts";

/** The process after a round. */
export interface Sample {
  /** Resident memory. */
  residentMB: number;
  /** Threads of the process; `undefined` where the system doesn't tell. */
  threads: number | undefined;
}

/** Loads, generates and disposes so many times; a sample after each. */
export async function rounds(count: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < count; round++) {
    {
      await using model = await testModel();
      await model.complete("Once upon a time", { maxTokens: 4 });
    }
    samples.push(sample());
  }
  return samples;
}

function sample(): Sample {
  const residentMB = Math.round(process.memoryUsage.rss() / 1e5) / 10;
  try {
    return { residentMB, threads: readdirSync("/proc/self/task").length };
  } catch {
    return { residentMB, threads: undefined };
  }
}

if (import.meta.main) {
  const count = Number(process.argv[2] ?? 200);
  const samples = await rounds(count);
  samples.forEach(({ residentMB, threads }, index) => {
    if (index % 20 === 19 || index === 0) {
      console.log(`round ${index + 1}: ${residentMB} MB resident, ${threads} threads`);
    }
  });
  const after = samples.slice(20).map((one) => one.residentMB);
  if (after.length > 0) console.log(`after the first 20: ${Math.min(...after)} to ${Math.max(...after)} MB`);
}
