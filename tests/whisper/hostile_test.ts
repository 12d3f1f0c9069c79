import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test } from "node:test";
import { InvalidArgumentError, ModelNotFoundError } from "../../lib/errors.ts";
import {
  decodeAudio,
  GgmlError,
  loadWhisper,
  type TranscribeOptions,
  type Whisper,
  type WhisperAudio,
  WhisperFormatError,
} from "../../lib/whisper/mod.ts";
import { basePath, jfkPath, tinyEnglishPath } from "./files.ts";

const slow = { timeout: 240_000 };
const quick: TranscribeOptions = { threads: 1, audioContext: 128, language: "en", vad: false, temperatureIncrement: 0 };

let whisper: Whisper;

before(async () => void (whisper = await loadWhisper(tinyEnglishPath, { threads: 1 })), slow);
after(() => whisper.dispose());

test("samples that were transferred away are refused, and what is given is left as it is", slow, async () => {
  const samples = (await decodeAudio(jfkPath)).slice(0, 16_000);
  const copy = samples.slice();
  await whisper.transcribe(samples, quick);
  assert.deepEqual(samples, copy);
  structuredClone(samples, { transfer: [samples.buffer] });
  assert.throws(() => whisper.transcribe(samples, quick), (error) => {
    assert.ok(error instanceof InvalidArgumentError, String(error));
    assert.match(error.message, /were transferred to another thread; give a copy/);
    return true;
  });
});

test("samples that are changed after the call do no harm", slow, async () => {
  const samples = (await decodeAudio(jfkPath)).slice(0, 16_000);
  const fine = await whisper.transcribe(samples, quick);
  const running = whisper.transcribe(samples, quick);
  samples.fill(NaN);
  assert.equal((await running).text, fine.text);
});

test("a model for voice activity that is none, or has no end", slow, async () => {
  await assert.rejects(loadWhisper(tinyEnglishPath, { vadModel: basePath }), WhisperFormatError);
  await assert.rejects(loadWhisper(tinyEnglishPath, { vadModel: "." }), ModelNotFoundError);
  if (process.platform === "linux") {
    await assert.rejects(loadWhisper(tinyEnglishPath, { vadModel: "/dev/zero" }), ModelNotFoundError);
  }
});

test("a duration beyond the end ends with the audio", slow, async () => {
  const samples = (await decodeAudio(jfkPath)).slice(0, 16_000);
  const whole = await whisper.transcribe(samples, quick);
  const longer = await whisper.transcribe(samples, { ...quick, duration: 1_000_000 });
  assert.deepEqual([longer.text, longer.segments], [whole.text, whole.segments]);
});

test("heads for alignment that the model hasn't are refused", slow, async () => {
  for (const alignment of ["large-v3", "base", "large-v3-turbo"] as const) {
    const options = { flashAttention: false, alignment, threads: 1 };
    await assert.rejects(loadWhisper(tinyEnglishPath, options), (error) => {
      assert.ok(error instanceof InvalidArgumentError, String(error));
      assert.match(error.message, /this one has 4 with 6; give the kind of this model/);
      return true;
    });
  }
});

test("audio that is none gives errors of ours", slow, async () => {
  const wrong: readonly unknown[] = [
    5,
    null,
    undefined,
    [0, 1],
    new Float64Array(9),
    new Uint16Array(9),
    {},
    "",
    "/no.wav",
  ];
  for (const audio of wrong) {
    const run = async () => await whisper.transcribe(audio as WhisperAudio, { ...quick, ffmpeg: false });
    await assert.rejects(run(), (error) => error instanceof GgmlError);
  }
  assert.equal((await whisper.transcribe(new Float32Array(1), quick)).text, "");
});
