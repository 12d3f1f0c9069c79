import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { after } from "node:test";
import { pathToFileURL } from "node:url";
import { joined } from "../../ffi/memory/concat.ts";
import { loadWhisper, type TranscribeOptions, TranscriptionCancelledError } from "../../lib/whisper/mod.ts";
import { jfkPath, tinyEnglishPath, voiceActivityPath } from "./files.ts";
import { jfkSamples, parseLines, silence } from "./support.ts";
import { upstream } from "./upstream.ts";

const whisper = await loadWhisper(tinyEnglishPath, { threads: 1, vadModel: voiceActivityPath, parallel: 2 });
after(() => whisper.dispose());

const spoken = /fellow Americans.*ask not what your country can do for you.*ask what you can do for your country/is;
const cli = (...more: string[]) =>
  upstream("whisper-cli", ["-m", tinyEnglishPath, "-f", jfkPath, "-t", "1", "-np", ...more]);
const shown = (segments: Iterable<{ start: number; end: number; text: string }>) =>
  Array.from(segments, ({ start, end, text }) => ({ start, end, text }));

const settings: readonly (readonly [string, TranscribeOptions, string[]])[] = [
  ["the most probable token each time", {}, ["-bs", "1"]],
  ["a beam search of five", { beamSize: 5 }, ["-bs", "5"]],
  ["a prompt", { prompt: "A speech of the president" }, ["-bs", "1", "--prompt", "A speech of the president"]],
  ["segments of words, at most 20 characters", { maxLength: 20 }, ["-bs", "1", "-ml", "20", "-sow"]],
];
for (const [title, options, args] of settings) {
  test(`text and times are whisper-cli's: ${title}`, async () => {
    const { segments, text } = await whisper.transcribe(jfkPath, { vad: false, ...options });
    // whisper-cli's may end after the audio.
    const theirs = parseLines(await cli(...args)).map((line) => ({ ...line, end: Math.min(line.end, 11) }));
    assert.deepEqual(shown(segments), theirs);
    assert.match(text, spoken);
  });
}

test("with speech found first, text and times are whisper-cli's with --vad, but none in silence", async () => {
  const { segments, speech } = await whisper.transcribe(jfkPath, { vad: true });
  // Recorded: its search for speech takes four threads whatever it is told, which can last for minutes on a busy machine.
  assert.deepEqual(shown(segments), [
    // Its ends are in silence that was left out: 7.8 both.
    { start: 0.29, end: 7.71, text: " And so my fellow Americans ask not what your country can do for you." },
    { start: 8.16, end: 10.58, text: " Ask what you can do for your country." },
  ]);
  assert.equal(speech?.length, 4);
});

test("the times of words are within 0.2 s of whisper-cli's -ml 1 -sow", async () => {
  const { segments } = await whisper.transcribe(jfkPath, { vad: false, wordTimestamps: true });
  const words = segments.flatMap(({ words = [] }) => words);
  const theirs = parseLines(await cli("-bs", "1", "-ml", "1", "-sow")).filter(({ text }) => text.trim() !== "");
  assert.deepEqual(words.map(({ text }) => text.trim()), theirs.map(({ text }) => text.trim()));
  for (const [index, { text, start, end, probability }] of words.entries()) {
    assert.ok(Math.abs(start - (theirs[index]?.start ?? NaN)) <= 0.2, `${text} starts at ${start}`);
    assert.ok(Math.abs(end - (theirs[index]?.end ?? NaN)) <= 0.2, `${text} ends at ${end}`);
    assert.ok(probability > 0 && probability <= 1);
  }
});

test("speech is found within 0.05 s of upstream's, and its probabilities cross windows as theirs do", async () => {
  const printed = await upstream("whisper-vad-speech-segments", [
    "-vm",
    voiceActivityPath,
    "-f",
    jfkPath,
    "-t",
    "1",
    "-np",
  ]);
  const theirs = [...printed.matchAll(/start = ([\d.]+), end = ([\d.]+)/g)].map((
    [, from, to],
  ) => [Number(from), Number(to)]);
  const own = await whisper.detectSpeech(jfkPath);
  assert.equal(own.length, theirs.length);
  assert.ok(own.length >= 3);
  for (const [index, { start, end }] of own.entries()) {
    const [from = NaN, to = NaN] = theirs[index] ?? [];
    assert.ok(Math.abs(start * 100 - from) <= 5 && Math.abs(end * 100 - to) <= 5, `${start} to ${end}`);
  }
});

test("segments come while it goes on, and are those of the result", async () => {
  const twice = joined(Float32Array, [jfkSamples(), silence(20), jfkSamples()]);
  const transcription = whisper.transcribe(twice, { onProgress: (part) => seen.push(part) });
  const seen: number[] = [];
  let settled = false;
  void transcription.then(() => settled = true);
  const segments = [];
  for await (const segment of transcription) {
    if (segments.length === 0) assert.equal(settled, false);
    segments.push(segment);
  }
  const result = await transcription;
  assert.deepEqual(segments, result.segments);
  assert.equal(result.language, "en");
  assert.equal(result.timings.audioSeconds, 42);
  assert.deepEqual(seen, seen.toSorted((a, b) => a - b));
  assert.deepEqual([seen[0], seen.at(-1)], [0, 1]);
});

test("bytes, a URL and samples of another rate give the same text", async () => {
  const samples = jfkSamples();
  const slow = Float32Array.from({ length: samples.length / 2 }, (_, index) => samples[index * 2] as number);
  const sources = [readFileSync(jfkPath), pathToFileURL(jfkPath), samples] as const;
  const texts = await Promise.all(
    sources.map(async (source) => (await whisper.transcribe(source, { vad: false })).text),
  );
  assert.equal(new Set(texts).size, 1);
  assert.match((await whisper.transcribe(slow, { sampleRate: 8_000 })).text, spoken);
});

test("transcriptions at once, on one model, give what each gives alone", async () => {
  const alone = (await whisper.transcribe(jfkSamples())).segments;
  const cut = jfkSamples().subarray(0, 88_000);
  const short = (await whisper.transcribe(cut)).segments;
  const together = await Promise.all([jfkSamples(), cut, jfkSamples(), cut].map((one) => whisper.transcribe(one)));
  assert.deepEqual(together.map(({ segments }) => segments), [alone, short, alone, short]);
});

test("an abort rejects with its reason and the model goes on", async () => {
  const reason = new Error("enough");
  const long = joined(Float32Array, [jfkSamples(), jfkSamples(), jfkSamples(), jfkSamples()]);
  const control = new AbortController();
  const transcription = whisper.transcribe(long, { signal: control.signal });
  for await (const _ of transcription) {
    control.abort(reason);
    break;
  }
  await assert.rejects(
    async () => await transcription,
    (error) => error === reason || error instanceof TranscriptionCancelledError,
  );
  await assert.rejects(async () => await whisper.transcribe(long, { signal: AbortSignal.abort(reason) }), reason);
  const left = whisper.transcribe(long);
  for await (const _ of left) break;
  await assert.rejects(async () => await left, TranscriptionCancelledError);
  assert.match((await whisper.transcribe(jfkSamples())).text, spoken);
});

test("tokens that are suppressed by number or by their text are never written", async () => {
  const { text, segments } = await whisper.transcribe(jfkSamples(), { suppressRegex: / [Cc]ountry/ });
  assert.doesNotMatch(text, / [Cc]ountry/);
  const ids = segments.flatMap(({ tokens }) => tokens).filter(({ special }) => !special).map(({ id }) => id).slice(
    0,
    3,
  );
  const other = await whisper.transcribe(jfkSamples(), { suppressTokens: ids });
  assert.ok(other.segments.every(({ tokens }) => tokens.every(({ id }) => !ids.includes(id))));
});

test("a grammar keeps other characters out", async () => {
  const { text } = await whisper.transcribe(jfkSamples(), { grammar: "root ::= [ a-z]+" });
  assert.match(text, /^[ a-z]+$/);
  assert.match(text, /fellow/);
  const numbers = await whisper.transcribe(jfkSamples(), {
    grammar: 'start ::= (" " digit+)+\ndigit ::= [0-9]',
    grammarRoot: "start",
  });
  assert.match(numbers.text, /^[ 0-9]*$/);
});

test("offset and duration choose a part, times stay those of the whole", async () => {
  for (const vad of [false, true]) {
    const { segments } = await whisper.transcribe(jfkSamples(), { offset: 8, duration: 3, vad });
    assert.match(segments.map(({ text }) => text).join(""), /ask what you can do/i);
    assert.ok(segments.every(({ start }) => start >= 8));
  }
  assert.deepEqual((await whisper.transcribe(jfkSamples(), { offset: 60 })).segments, []);
});

test("without timestamps a window is one segment", async () => {
  const { segments } = await whisper.transcribe(jfkSamples(), { timestamps: false });
  assert.equal(segments.length, 1);
  assert.match(segments[0]?.text ?? "", spoken);
});
