/**
 * Mixed work for a long time: chats, tools, transcriptions, tensors, cancels, loads and unloads. Prints memory, open files and threads for each tenth.
 *
 *   deno run -A --v8-flags=--expose-gc tests/soak/soak.ts [--minutes N] [--seed N]
 *   bun tests/soak/soak.ts [--minutes N] [--seed N]
 *
 * Ends with 1 when memory, open files or threads grew between the second tenth and the last.
 */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { computeSync, GgmlContext, Graph, ops, Registry } from "../../lib/ggml/mod.ts";
import { loadWhisper, speechModelPath, type Whisper } from "../../lib/whisper/mod.ts";
import { type ChatTool, defaultModelPath, loadModel, type Model } from "../../mod.ts";
import { randomBelow } from "../support/random.ts";

/** Figures at one moment. */
export interface Figures {
  readonly residentMB: number;
  readonly files: number;
  readonly threads: number;
}

/** How much of each kind of work was done. */
export type Counts = Record<string, number>;

type Below = (limit: number) => number;

const BLOCK = 1 << 20;
/** Growth of resident memory that is noise: what allocators keep differs from tenth to tenth. */
const NOISE_MB = 24;

/** The work that a soak mixes. */
class Work {
  readonly counts: Counts = {};
  #model: Model | undefined;
  #whisper: Whisper | undefined;

  async step(below: Below): Promise<void> {
    const kinds = [
      this.chat,
      this.complete,
      this.cancel,
      this.tools,
      this.transcribe,
      this.tensors,
      this.compute,
      this.reload,
    ];
    const kind = kinds[below(kinds.length)] ?? this.chat;
    this.counts[kind.name] = (this.counts[kind.name] ?? 0) + 1;
    await kind.call(this, below);
  }

  async model(): Promise<Model> {
    return this.#model ??= await loadModel(await defaultModelPath(), { threads: 1, contextSize: 256 });
  }

  async whisper(): Promise<Whisper> {
    return this.#whisper ??= await loadWhisper(await speechModelPath(), { threads: 1 });
  }

  async chat(below: Below): Promise<void> {
    const chat = (await this.model()).chat({ system: "Answer briefly." });
    for (let left = 1 + below(2); left > 0; left--) {
      await chat.send("What is the capital of France?", { maxTokens: 8, seed: below(99) });
    }
  }

  async complete(below: Below): Promise<void> {
    let text = "";
    const generation = (await this.model()).complete("Once upon a time", { maxTokens: 4 + below(12), seed: below(99) });
    for await (const piece of generation) text += piece;
    assert.equal(text, (await generation).text);
  }

  async cancel(below: Below): Promise<void> {
    const controller = new AbortController();
    const generation = (await this.model()).complete("1, 2, 3,", { maxTokens: 64, signal: controller.signal });
    let left = below(4);
    await assert.rejects(async () => {
      for await (const _ of generation) if (left-- === 0) controller.abort(new Error("enough"));
      await generation;
      throw new Error("enough");
    }, /enough/);
  }

  async tools(): Promise<void> {
    const clock: ChatTool = {
      description: "Says the time.",
      parameters: { type: "object", properties: {} },
      handler: () => "noon",
    };
    const chat = (await this.model()).chat({ tools: { clock } });
    await chat.send("What time is it?", { maxTokens: 24, temperature: 0 });
  }

  async transcribe(below: Below): Promise<void> {
    const samples = Float32Array.from({ length: 16_000 }, () => below(200) / 1000 - 0.1);
    await (await this.whisper()).transcribe(samples, { audioContext: 128, vad: false, temperatureIncrement: 0 });
  }

  async tensors(below: Below): Promise<void> {
    using context = await GgmlContext.create({ dataBytes: BLOCK });
    const values = Array.from({ length: 1 + below(64) }, (_, index) => index);
    using graph = new Graph(context).forward(ops.sum(context, context.from(values)));
    computeSync(graph);
  }

  async compute(below: Below): Promise<void> {
    using backend = (await Registry.open()).device("CPU").open({ threads: 1 });
    using context = await GgmlContext.create({ dataBytes: BLOCK });
    const size = 1 + below(64);
    const a = context.tensor("f32", [size, size]).write(new Float32Array(size * size).fill(1));
    using graph = new Graph(context).forward(ops.mulMat(context, a, a));
    await backend.compute(graph);
  }

  async reload(below: Below): Promise<void> {
    if (below(2) === 0) {
      await this.#model?.[Symbol.asyncDispose]();
      this.#model = undefined;
    } else {
      await this.#whisper?.[Symbol.asyncDispose]();
      this.#whisper = undefined;
    }
  }

  async end(): Promise<void> {
    await this.#model?.[Symbol.asyncDispose]();
    await this.#whisper?.[Symbol.asyncDispose]();
  }
}

function collect(): void {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };
  gc?.();
  Bun?.gc(true);
}

function figures(): Figures {
  collect();
  const count = (folder: string): number => process.platform === "linux" ? readdirSync(folder).length : 0;
  return {
    residentMB: Math.round(process.memoryUsage().rss / 1e6),
    files: count("/proc/self/fd"),
    threads: count("/proc/self/task"),
  };
}

/** Works for so many minutes; gives the figures at the end of each tenth and how much was done. */
export async function soak(
  minutes: number,
  seed: number,
  say: (line: string) => void,
): Promise<{ tenths: Figures[]; counts: Counts }> {
  const below = randomBelow(seed);
  const work = new Work();
  const tenths: Figures[] = [];
  const started = performance.now();
  while (tenths.length < 10) {
    await work.step(below);
    if (performance.now() - started < (tenths.length + 1) * minutes * 6000) continue;
    // With both models there, so that the figures are of one state.
    await work.model();
    await work.whisper();
    const now = figures();
    tenths.push(now);
    say(`${tenths.length}/10: ${now.residentMB} MB, ${now.files} files, ${now.threads} threads`);
  }
  await work.end();
  return { tenths, counts: work.counts };
}

/** What grew between the second tenth and the last: the first warms up. */
export function grown(tenths: readonly Figures[]): string[] {
  const [, second, ...rest] = tenths;
  const last = rest.at(-1);
  if (second === undefined || last === undefined) return ["too few figures"];
  return [
    ...(last.residentMB > second.residentMB + NOISE_MB
      ? [`memory from ${second.residentMB} to ${last.residentMB} MB`]
      : []),
    ...(last.files > second.files ? [`open files from ${second.files} to ${last.files}`] : []),
    ...(last.threads > second.threads ? [`threads from ${second.threads} to ${last.threads}`] : []),
  ];
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { minutes: { type: "string", default: "60" }, seed: { type: "string", default: "1" } },
  });
  const { tenths, counts } = await soak(Number(values.minutes), Number(values.seed), (line) => console.log(line));
  console.log(
    `seed ${values.seed}, ${values.minutes} minutes: ${Object.entries(counts).map((one) => one.join(" ")).join(", ")}`,
  );
  const found = grown(tenths);
  console.log(found.length === 0 ? "nothing grew" : `grew: ${found.join("; ")}`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
