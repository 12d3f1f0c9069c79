import assert from "node:assert/strict";
import process from "node:process";
import test, { after } from "node:test";
import { joined } from "../../ffi/memory/concat.ts";
import {
  loadWhisper,
  type Segment,
  toSrt,
  type TranscribeOptions,
  type TranscriptionResult,
} from "../../lib/whisper/mod.ts";
import { randomNumbers } from "../support/random.ts";
import { jfkPath, tinyEnglishPath, voiceActivityPath } from "./files.ts";
import { jfkSamples, silence } from "./support.ts";

const whisper = await loadWhisper(tinyEnglishPath, { threads: 1, vadModel: voiceActivityPath });
after(() => whisper.dispose());

/** Random parts that are tried; 200 by hand: GGML_FFI_SPEECH_PARTS=200, which prints what it counted. */
const rounds = Number(process.env["GGML_FFI_SPEECH_PARTS"] ?? 10);
const quick: TranscribeOptions = { temperatureIncrement: 0, audioContext: 320 };

/** All that a result says about times, with what it is about. */
function timesOf({ segments, speech = [] }: TranscriptionResult): { what: string; start: number; end: number }[] {
  return [
    ...speech.map(({ start, end }) => ({ what: "speech", start, end })),
    ...segments.flatMap(({ text, start, end, words = [], tokens }) => [
      { what: `segment ${text}`, start, end },
      ...words.map((word) => ({ what: `word ${word.text}`, start: word.start, end: word.end })),
      ...tokens.map((token) => ({ what: `token ${token.text}`, start: token.start ?? start, end: token.end ?? end })),
    ]),
  ];
}

const shown = (segments: readonly Segment[]) => segments.map(({ text, start, end }) => ({ text, start, end }));

test("only the part that is asked for is heard, and its times are those of the whole audio", async () => {
  for (const [offset, duration] of [[0, 0.5], [3, 3], [6.123, 2], [9, 100]] as const) {
    const alone = jfkSamples().subarray(offset * 16_000, (offset + duration) * 16_000);
    const expected = (await whisper.transcribe(alone, { ...quick, vad: false })).segments;
    for (const audio of [jfkPath, jfkSamples()]) {
      const options = { ...quick, vad: false, offset, duration } as const;
      const { segments, timings } = await whisper.transcribe(audio, options);
      assert.equal(timings.audioSeconds, alone.length / 16_000);
      assert.deepEqual(
        shown(segments),
        shown(expected).map(({ text, start, end }) => ({
          text,
          start: Math.round((start + offset) * 1000) / 1000,
          end: Math.round((end + offset) * 1000) / 1000,
        })),
      );
    }
  }
  for (const part of [{ offset: 11 }, { offset: 100, duration: 1 }, { duration: 0 }, { offset: 5, duration: 0.05 }]) {
    for (const vad of [true, false]) {
      const { segments, text } = await whisper.transcribe(jfkPath, { ...quick, ...part, vad });
      assert.deepEqual([segments, text], [[], ""]);
    }
  }
});

test("nothing ends after the audio", async () => {
  for (const seconds of [0.3, 1.2, 4.0055]) {
    const nothing = silence(seconds);
    for (const wordTimestamps of [false, true]) {
      const audioContext = seconds === 1.2 ? 0 : 320;
      const result = await whisper.transcribe(nothing, { ...quick, audioContext, vad: false, wordTimestamps });
      for (const { what, start, end } of timesOf(result)) {
        assert.ok(start >= 0 && start <= end && end <= seconds, `${what}: ${start} to ${end} of ${seconds} s`);
      }
    }
  }
  const speech = await whisper.detectSpeech(jfkSamples().subarray(0, 25_000));
  assert.ok(speech.length > 0 && speech.every(({ end }) => end <= 25_000 / 16_000));
});

test("speech, a minute of silence, speech: the second begins where it is said", async () => {
  const audio = joined(Float32Array, [jfkSamples(), silence(60), jfkSamples()]);
  for (const wordTimestamps of [false, true]) {
    const { segments } = await whisper.transcribe(audio, { vad: true, wordTimestamps });
    const again = segments.filter(({ start }) => start >= 11);
    assert.match(
      again.map(({ text }) => text).join(""),
      /And so my fellow Americans.*ask what you can do for your country/is,
    );
    assert.ok(segments.every(({ start, end }) => end <= 11 || start >= 71), JSON.stringify(shown(segments)));
    const first = again[0]?.words?.[0];
    if (wordTimestamps) assert.ok(first !== undefined && first.start >= 71 && first.start < 71.6, String(first?.start));
    const subtitles = toSrt(segments);
    assert.match(subtitles, /\n\n3\n00:01:11,\d{3} --> 00:01:1\d,\d{3}\n ?And so my/);
    if (rounds > 10) console.log(subtitles);
  }
});

test(
  `${rounds} random parts: nothing lies outside of them, or in silence that was left out`,
  { timeout: 1_200_000 },
  async () => {
    const audio = joined(Float32Array, [
      jfkSamples().subarray(0, 70_000),
      silence(4),
      jfkSamples().subarray(80_000),
      silence(2),
    ]);
    const seconds = audio.length / 16_000;
    const next = randomNumbers(12);
    const milliseconds = (most: number): number => Math.floor(next() * most * 1000) / 1000;
    const counted = { segments: 0, words: 0, tokens: 0, stretches: 0, outside: 0, inSilence: 0 };
    for (let round = 0; round < rounds; round++) {
      const [offset, duration, vad] = [milliseconds(seconds), 0.2 + milliseconds(5.8), round % 2 === 1];
      const result = await whisper.transcribe(audio, { ...quick, offset, duration, vad, wordTimestamps: true });
      const { segments, speech } = result;
      const end = Math.min(seconds, Math.round((offset + duration) * 1000) / 1000);
      const times = timesOf(result);
      const outside = times.filter((one) => one.start < offset || one.end > end || one.end < one.start);
      const within = (time: number) =>
        speech?.some((stretch) => time >= stretch.start && time <= stretch.end) !== false;
      const silent = times.filter((one) => !within(one.start) || !within(one.end));
      const spanning = segments.flatMap(({ words = [] }) => words).filter((word) =>
        speech?.some((stretch) => word.start >= stretch.start && word.end <= stretch.end) === false
      );
      counted.segments += segments.length;
      counted.words += segments.reduce((sum, { words = [] }) => sum + words.length, 0);
      counted.tokens += segments.reduce((sum, { tokens }) => sum + tokens.length, 0);
      counted.stretches += speech?.length ?? 0;
      counted.outside += outside.length;
      counted.inSilence += silent.length + spanning.length;
      assert.deepEqual([outside, silent, spanning], [[], [], []], JSON.stringify({ offset, duration, vad, speech }));
    }
    if (rounds > 10) console.log(counted);
    assert.ok(counted.words > rounds && counted.stretches > rounds / 3, JSON.stringify(counted));
  },
);
