// Aborts in RUNS separate programs, and TIMES in one program, in both runtimes: deno run -A tests/model/containment/abort_runs.ts [RUNS [TIMES [KIND…]]]
import process from "node:process";
import type { AbortReport } from "./abort_child.ts";
import { command, run } from "../support.ts";

const runs = Number(process.argv[2] ?? 100);
const times = Number(process.argv[3] ?? 10);
const kinds = process.argv.length > 4 ? process.argv.slice(4) : ["assert", "exception", "abort", "compute"];
const child = "tests/model/containment/abort_child.ts";
const right = ["NativeAbortError", "NativeAbortError", "NativeAbortError", "returned", "DisposedError"];

function faultOf(code: number | null, signal: string | null, stdout: string): string | undefined {
  if (code !== 0) return `code ${code}, signal ${signal}`;
  const report = JSON.parse(stdout) as AbortReport;
  if (report.errors.some((name) => name !== "NativeAbortError")) return `errors ${report.errors}`;
  if (report.later.some((name, index) => name !== right[index % right.length])) return `later ${report.later}`;
  if (!report.sameText) return "the other model's text";
  return report.running > 0 ? `${report.running} threads that spin` : undefined;
}

for (const runtime of ["deno", "bun"] as const) {
  for (const kind of kinds) {
    const faults: string[] = [];
    const ms: number[] = [];
    for (let at = 0; at < runs; at++) {
      const { code, signal, stdout } = await run(command(runtime, child, [kind]));
      const fault = faultOf(code, signal, stdout);
      if (fault === undefined) ms.push(...(JSON.parse(stdout) as AbortReport).ms);
      else faults.push(fault);
    }
    ms.sort((a, b) => a - b);
    const median = ms[Math.floor(ms.length / 2)];
    console.log(
      `${runtime} ${kind}: ${ms.length} of ${runs} right; error after ${median} ms (median), ${ms.at(-1)} ms (most)`,
      faults,
    );
  }
  for (const kind of times > 1 ? kinds : []) {
    const { code, signal, stdout } = await run(command(runtime, child, [kind, String(times)]));
    const fault = faultOf(code, signal, stdout);
    const megabytes = fault === undefined ? (JSON.parse(stdout) as AbortReport).megabytes : [];
    const each = ((megabytes.at(-1) ?? 0) - (megabytes[0] ?? 0)) / (times - 1);
    console.log(
      `${runtime} ${kind}, ${times} in one program: ${
        fault ?? `right; ${each.toFixed(1)} MB each, the model's included`
      }`,
    );
  }
}
