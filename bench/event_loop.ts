/**
 * The lateness of a 1 ms timer while an answer is made, and while nothing happens.
 *
 *   deno run -A bench/event_loop.ts [--pairs 15] [--threads 1,2] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * @module
 */
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { type BenchOptions, benchOptions, progress } from "./support/options.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { quantile } from "./support/stats.ts";
import { table } from "./support/table.ts";

type Runtime = keyof typeof RUNTIMES;
const NAMES = Object.keys(RUNTIMES) as Runtime[];

/** All the ticks of one runtime, in milliseconds of lateness. */
interface Result {
  runtime: Runtime;
  threads: number;
  during: "idle" | "generation";
  runs: number;
  ticks: number;
  p50: number;
  p99: number;
  max: number;
}

async function measure(options: BenchOptions, threads: number): Promise<Result[]> {
  const children = new Map<Runtime, LineChild>();
  for (const name of NAMES) {
    const command = [
      ...RUNTIMES[name],
      `${ROOT}bench/children/event_loop.ts`,
      options.model,
      String(threads),
      String(TOKENS),
    ];
    children.set(name, await LineChild.start(command, { GGML_FFI_LIBRARY_PATH: options.libraries }));
  }
  const lags = new Map<string, number[]>();
  for (let round = 0; round < options.pairs; round++) {
    progress(`${threads} thread${threads > 1 ? "s" : ""}: round ${round + 1} of ${options.pairs}`);
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      for (const during of ["idle", "generation"] as const) {
        const found = await children.get(name)?.ask<number[]>(during) ?? [];
        lags.set(`${name} ${during}`, [...lags.get(`${name} ${during}`) ?? [], ...found]);
      }
    }
  }
  for (const child of children.values()) await child.stop();
  return NAMES.flatMap((runtime) =>
    (["idle", "generation"] as const).map((during) => {
      const sorted = (lags.get(`${runtime} ${during}`) ?? []).sort((a, b) => a - b);
      const at = (share: number) => quantile(sorted, share);
      return {
        runtime,
        threads,
        during,
        runs: options.pairs,
        ticks: sorted.length,
        p50: at(0.5),
        p99: at(0.99),
        max: at(1),
      };
    })
  );
}

function report(results: readonly Result[]): string {
  const rows = results.map(({ runtime, threads, during, ticks, p50, p99, max }) => [
    runtime,
    String(threads),
    during,
    String(ticks),
    ...[p50, p99, max].map((ms) => ms.toFixed(2)),
  ]);
  return `${table([["runtime", "threads", "during", "ticks", "p50 ms", "p99 ms", "max ms"], ...rows])}` +
    `${results[0]?.runs} runs of ${TOKENS} tokens; a tick is due 1 ms after the one before.\n`;
}

const options = await benchOptions(15);
const TOKENS = options.short ? 8 : 128;
const results: Result[] = [];
for (const threads of options.threads) results.push(...await measure(options, threads));
console.log(
  options.json ? JSON.stringify({ bench: "event_loop", machine: machine(), results }, null, 1) : report(results),
);
