// Transcribes, watches a 1 ms timer meanwhile, or aborts: whisper.ts MODEL AUDIO THREADS
import process from "node:process";
import { createInterface } from "node:readline";
import { loadWhisper } from "../../lib/whisper/mod.ts";

const PERIOD_MS = 1;
const [path = "", audio = "", threads] = process.argv.slice(2);
await using whisper = await loadWhisper(path, { threads: Number(threads) });
await whisper.transcribe(audio, { vad: false });
console.log(JSON.stringify({ ready: true }));

for await (const line of createInterface({ input: process.stdin })) {
  const [what, wait] = line.split(" ");
  if (what === "abort") console.log(JSON.stringify(await abortAfter(Number(wait))));
  else console.log(JSON.stringify(await transcribe(what === "watch")));
}

/** One transcription, and how late each tick of a timer came meanwhile. */
async function transcribe(watched: boolean): Promise<{ milliseconds: number; text: string; lags: number[] }> {
  const lags: number[] = [];
  const started = performance.now();
  let working = true;
  const work = whisper.transcribe(audio, { vad: false, language: "en" }).then((result) => {
    working = false;
    return result;
  });
  while (watched && working) {
    const due = performance.now() + PERIOD_MS;
    await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    lags.push(performance.now() - due);
  }
  const { text } = await work;
  return { milliseconds: performance.now() - started, text, lags };
}

/** Milliseconds from an abort to the rejection. */
async function abortAfter(milliseconds: number): Promise<number> {
  const control = new AbortController();
  const work = whisper.transcribe(audio, { vad: false, signal: control.signal }).then(() => {}, () => {});
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const aborted = performance.now();
  control.abort();
  await work;
  return performance.now() - aborted;
}
