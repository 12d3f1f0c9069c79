import assert from "node:assert/strict";
import process from "node:process";
import test, { after } from "node:test";
import { type LiveText, loadWhisper } from "../../lib/whisper/mod.ts";
import { type LiveWindow, WindowGate } from "../../lib/whisper/live/windows.ts";
import { tinyEnglishPath, voiceActivityPath } from "./files.ts";
import { jfkSamples, music, noise, silence } from "./support.ts";

const whisper = await loadWhisper(tinyEnglishPath, { threads: 1, vadModel: voiceActivityPath });
after(() => whisper.dispose());

/** Minutes of audio; two hours by hand: GGML_FFI_LIVE_MINUTES=120. */
const minutes = Number(process.env["GGML_FFI_LIVE_MINUTES"] ?? 10);
const rate = 16_000;
/** The recording, then silence. */
const gap = 19;
const period = 11 + gap;

/** Pieces of audio, of other lengths than the frames that are heard. */
async function* speech(count: number): AsyncGenerator<Float32Array> {
  const one = jfkSamples();
  const nothing = new Float32Array(gap * rate);
  for (let index = 0; index < count; index++) {
    for (const part of [one, nothing]) {
      for (let at = 0; at < part.length; at += 5_000) yield part.subarray(at, at + 5_000);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* pieces(...all: readonly Float32Array[]): AsyncGenerator<Float32Array> {
  yield* all;
}

function residentMegabytes(): number {
  return process.memoryUsage.rss() / 1e6;
}

async function all(live: AsyncIterable<LiveText>): Promise<LiveText[]> {
  const texts: LiveText[] = [];
  for await (const text of live) texts.push(text);
  return texts;
}

test(`${minutes} minutes of live audio: every repetition is found, times are right, memory is flat`, async () => {
  const count = Math.floor(minutes * 60 / period);
  const found = new Map<number, string>();
  let early = 0;
  let worst = 0;
  for await (
    const { kind, segments } of whisper.live(speech(count), { provisional: false, pauseSeconds: 2, audioContext: 768 })
  ) {
    assert.equal(kind, "stable");
    for (const { text, start, words = [] } of segments) {
      const index = Math.floor(start / period);
      found.set(index, (found.get(index) ?? "") + text);
      const ask = words.find((word) => /^ask/i.test(word.text.trim()));
      // Of the two, the first is said at 3.3 s.
      if (ask !== undefined && ask.start - index * period < 6) {
        worst = Math.max(worst, Math.abs(ask.start - index * period - 3.3));
      }
    }
    // Garbage collectors take some minutes to settle.
    if (found.size === Math.min(count, Math.max(4, Math.floor(count / 10)))) early ||= residentMegabytes();
  }
  const late = residentMegabytes();
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) =>
    !/fellow Americans.*country.*country/is.test(found.get(index) ?? "")
  );
  if (minutes > 10) console.log(`${found.size} of ${count} found, ${early} MB, then ${late} MB, ${worst} s off`);
  assert.deepEqual([found.size, missing], [count, []]);
  assert.ok(worst <= 0.5, `a word is ${worst} s off`);
  assert.ok(late - early < 40, `from ${early} MB to ${late} MB`);
});

test("provisional text comes before the stable one, and is replaced by it", async () => {
  async function* slowly(): AsyncGenerator<Float32Array> {
    const samples = jfkSamples();
    for (let at = 0; at < samples.length; at += 16_000) yield samples.subarray(at, at + 16_000);
    yield silence(2);
  }
  const texts = await all(
    whisper.live(slowly(), { provisionalIntervalSeconds: 0.1, pauseSeconds: 2, audioContext: 768 }),
  );
  const kinds = texts.map(({ kind }) => kind);
  assert.equal(kinds[0], "provisional");
  assert.equal(kinds.at(-1), "stable");
  assert.match(
    texts.filter(({ kind }) => kind === "stable").map(({ text }) => text).join(""),
    /fellow Americans.*country.*country/is,
  );
});

test("speech that goes on is cut within the longest window, and no word is lost or doubled", async () => {
  const texts = await all(
    whisper.live(pieces(jfkSamples(), jfkSamples()), { provisional: false, maxWindowSeconds: 8, pauseSeconds: 5 }),
  );
  assert.ok(texts.length >= 3);
  const said = texts.map(({ text }) => text).join("").toLowerCase().replace(/[^a-z ]/g, "").split(/\s+/).filter(
    Boolean,
  );
  assert.equal(said.filter((word) => word === "americans").length, 2);
  assert.equal(said.filter((word) => word === "country").length, 4);
  const times = texts.flatMap(({ segments }) => segments.map(({ start }) => start));
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
});

test("silence, noise and music give no text", async () => {
  for (const samples of [silence(6), noise(6, 0.05, 1), music(6)]) {
    assert.deepEqual(await all(whisper.live(pieces(samples))), []);
  }
});

test("leaving the loop, an abort and bad pieces end it", async () => {
  let returned = false;
  async function* endless(): AsyncGenerator<Float32Array> {
    try {
      for (;;) yield jfkSamples();
    } finally {
      returned = true;
    }
  }
  for await (const _ of whisper.live(endless(), { maxWindowSeconds: 5 })) break;
  assert.equal(returned, true);
  const reason = new Error("enough");
  const never = new ReadableStream<Float32Array>({ pull: () => new Promise(() => {}) });
  const control = new AbortController();
  const waiting = all(whisper.live(never, { signal: control.signal }));
  control.abort(reason);
  await assert.rejects(waiting, reason);
  for (const [piece, code] of [[[1, 2], "INVALID_ARGUMENT"], [Float32Array.of(NaN), "AUDIO_SAMPLE"]] as const) {
    await assert.rejects(all(whisper.live(pieces(jfkSamples().subarray(0, 1000), piece as Float32Array))), { code });
  }
  assert.throws(() => whisper.live(jfkSamples() as never), { code: "INVALID_ARGUMENT" });
  assert.throws(() => whisper.live(endless(), { maxWindowSeconds: 60 }), { code: "INVALID_ARGUMENT" });
});

test("a window holds what was said, no more than the longest", () => {
  const gate = new WindowGate({
    threshold: 0.5,
    minSpeech: 1024,
    minSilence: 1024,
    longest: 16_384,
    lead: 1024,
    overlap: 512,
  });
  const frame = (value: number) => new Float32Array(512).fill(value);
  const windows: LiveWindow[] = [];
  for (let index = 0; index < 200; index++) {
    const window = gate.push(frame(index), index >= 10 && index < 100 ? (index % 16 === 15 ? 0.4 : 0.9) : 0);
    if (window !== undefined) windows.push(window);
    assert.ok(gate.held <= 16_384);
  }
  assert.equal(windows[0]?.start, 8 * 512);
  for (const [index, window] of windows.entries()) {
    assert.equal(window.samples[0], window.start / 512);
    const next = windows[index + 1];
    if (next !== undefined) assert.equal(next.from, window.to);
    if (next !== undefined) assert.ok(next.start < window.to);
  }
  assert.equal(windows.at(-1)?.to, 102 * 512);
});

test("a live transcription that waits doesn't keep its model from being disposed", async () => {
  const other = await loadWhisper(tinyEnglishPath, { threads: 1, vadModel: voiceActivityPath });
  async function* more(): AsyncGenerator<Float32Array> {
    for (;;) yield jfkSamples();
  }
  const live = other.live(more(), { maxWindowSeconds: 5 });
  assert.equal((await live.next()).done, false);
  await other.dispose();
  await assert.rejects(live.next(), { code: "DISPOSED" });
});
