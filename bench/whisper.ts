/**
 * Speech: our transcription beside upstream's whisper-cli, built from the same sources over the same libraries; how late a 1 ms timer comes meanwhile; how
 * long an abort takes.
 *
 *   deno run -A bench/whisper.ts [--pairs 15] [--threads 1,2] [--json] [-m MODEL] [--libraries FOLDER]
 *
 * @module
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { speechModelPath } from "../lib/whisper/mod.ts";
import { ensureWhisperTools } from "../scripts/build/whisper_tools.ts";
import { LineChild } from "./support/line_child.ts";
import { machine } from "./support/machine.ts";
import { benchOptions, progress } from "./support/options.ts";
import { ROOT, RUNTIMES } from "./support/places.ts";
import { quantile, ratios, show, summarize } from "./support/stats.ts";
import { table } from "./support/table.ts";

const run = promisify(execFile);
const audio = `${ROOT}csrc/upstream/whisper.cpp-samples/jfk.wav`;
const AUDIO_SECONDS = 11;
type Runtime = keyof typeof RUNTIMES;
const NAMES = Object.keys(RUNTIMES) as Runtime[];

/** A child's answer for one transcription. */
interface Round {
  milliseconds: number;
  text: string;
  lags: number[];
}

/** The milliseconds and the text of upstream's program, without the loading of the model. */
async function theirs(
  program: string,
  model: string,
  threads: number,
): Promise<{ milliseconds: number; text: string }> {
  const args = ["-m", model, "-f", audio, "-t", String(threads), "-bs", "1"];
  const { stdout, stderr } = await run(program, args);
  const time = (name: string) => Number(new RegExp(`${name} time = +([\\d.]+) ms`).exec(stderr)?.[1]);
  const text = stdout.replace(/^\[[^\]]*\] {2}/gm, "").replaceAll("\n", "");
  return { milliseconds: time("total") - time("load"), text };
}

const options = await benchOptions(15);
const model = process.argv.includes("-m") ? options.model : await speechModelPath();
const program = join(await ensureWhisperTools(), "whisper-cli");
const results = [];
const rows = [["runtime", "threads", "× real time", "whisper-cli", "ratio", "same text", "lag p99 ms", "abort max ms"]];
for (const threads of options.threads) {
  const children = new Map<Runtime, LineChild>();
  for (const name of NAMES) {
    const command = [...RUNTIMES[name], `${ROOT}bench/children/whisper.ts`, model, audio, String(threads)];
    children.set(name, await LineChild.start(command, { GGML_FFI_LIBRARY_PATH: options.libraries }));
  }
  const speeds = new Map<string, number[]>([...NAMES, "cli"].map((name) => [name, []]));
  const texts = new Set<string>();
  const lags = new Map<Runtime, number[]>(NAMES.map((name) => [name, []]));
  const aborts = new Map<Runtime, number[]>(NAMES.map((name) => [name, []]));
  for (let round = 0; round < options.pairs; round++) {
    progress(`${threads} thread${threads > 1 ? "s" : ""}: round ${round + 1} of ${options.pairs}`);
    for (const name of round % 2 === 0 ? [...NAMES, "cli" as const] : ["cli" as const, ...NAMES.toReversed()]) {
      const { milliseconds, text } = name === "cli"
        ? await theirs(program, model, threads)
        : await children.get(name)?.ask<Round>("transcribe") as Round;
      speeds.get(name)?.push(AUDIO_SECONDS * 1000 / milliseconds);
      texts.add(text.trim());
    }
    for (const name of NAMES) {
      lags.get(name)?.push(...(await children.get(name)?.ask<Round>("watch") as Round).lags);
      aborts.get(name)?.push(await children.get(name)?.ask<number>(`abort ${50 + 97 * round % 500}`) ?? NaN);
    }
  }
  for (const child of children.values()) await child.stop();
  for (const name of NAMES) {
    const own = speeds.get(name) ?? [];
    const cli = speeds.get("cli") ?? [];
    const sorted = (lags.get(name) ?? []).sort((a, b) => a - b);
    const result = {
      runtime: name,
      threads,
      speed: summarize(own),
      cli: summarize(cli),
      ratio: summarize(ratios(own, cli)),
      sameText: texts.size === 1,
      lagP99: quantile(sorted, 0.99),
      abortMax: Math.max(...aborts.get(name) ?? []),
    };
    results.push(result);
    rows.push([
      name,
      String(threads),
      show(result.speed),
      show(result.cli),
      show(result.ratio, 3),
      result.sameText ? "yes" : "NO",
      result.lagP99.toFixed(2),
      result.abortMax.toFixed(0),
    ]);
  }
}
console.log(
  options.json
    ? JSON.stringify({ bench: "whisper", machine: machine(), results }, null, 1)
    : `${
      table(rows)
    }${options.pairs} rounds; ${AUDIO_SECONDS} s of speech, greedy; the loading of the model isn't in it.\n`,
);
