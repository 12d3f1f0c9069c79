import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { open, type Pointer } from "../../ffi/mod.ts";
import { SpeechAudio, speechOf } from "../../lib/whisper/vad/segments.ts";
import { type VadOptions, vadSpec } from "../../lib/whisper/vad/options.ts";
import { randomNumbers } from "../support/random.ts";
import { voiceActivityPath } from "./files.ts";

const native = await open();
const { lib } = native;

test("speech is cut out of probabilities as whisper.cpp does it", () => {
  readFileSync(voiceActivityPath);
  const contextParams = native.defaults("whisper_vad_context_params");
  contextParams.n_threads = 1;
  const context = lib.whisper_vad_init_from_file_with_params(voiceActivityPath, contextParams);
  assert.ok(context !== null);
  const next = randomNumbers(11);
  const frames = 400;
  assert.ok(lib.whisper_vad_detect_speech(context, new Float32Array(frames * 512), frames * 512));
  const probabilities = native.viewFloat32(lib.whisper_vad_probs(context) as Pointer, frames);
  for (let round = 0; round < 300; round++) {
    let level = 0;
    for (let index = 0; index < frames; index++) {
      if (next() < 0.06) level = next();
      probabilities[index] = Math.min(1, Math.max(0, level + (next() - 0.5) * 0.3));
    }
    const options: VadOptions = {
      threshold: Math.round(next() * 90) / 100 + 0.05,
      minSpeechMs: Math.floor(next() * 500),
      minSilenceMs: Math.floor(next() * 400),
      padMs: Math.floor(next() * 200),
      ...(next() < 0.5 ? {} : { maxSpeechSeconds: 1 + Math.floor(next() * 8) }),
    };
    const settings = vadSpec.check(options);
    const params = native.defaults("whisper_vad_params");
    params.threshold = settings.threshold;
    params.min_speech_duration_ms = settings.minSpeechMs;
    params.min_silence_duration_ms = settings.minSilenceMs;
    params.max_speech_duration_s = settings.maxSpeechSeconds;
    params.speech_pad_ms = settings.padMs;
    const found = lib.whisper_vad_segments_from_probs(context, params);
    assert.ok(found !== null);
    const theirs = Array.from({ length: lib.whisper_vad_segments_n_segments(found) }, (_, index) => ({
      start: lib.whisper_vad_segments_get_segment_t0(found, index) / 100,
      end: lib.whisper_vad_segments_get_segment_t1(found, index) / 100,
    }));
    lib.whisper_vad_free_segments(found);
    assert.deepEqual(speechOf(probabilities, settings, 512), theirs, JSON.stringify(options));
  }
  lib.whisper_vad_free(context);
});

test("times of what is left lead back to the audio's", () => {
  const samples = Float32Array.from({ length: 16_000 * 20 }, (_, index) => index / 1e6);
  const speech = [{ start: 2, end: 4 }, { start: 10, end: 11 }, { start: 19, end: 20 }];
  const audio = new SpeechAudio(samples, speech, 0.1);
  assert.equal(audio.samples[0], Math.fround(0.032));
  assert.deepEqual([-5, 0, 100, 200, 201, 219, 220, 9999].map((time) => audio.point(time)), [
    200,
    200,
    300,
    400,
    400,
    1000,
    1000,
    2000,
  ]);
  // What is left: 0 to 200, 220 to 320, 340 to 440.
  const segments = [[0, 200], [200, 320], [190, 320], [150, 320], [220, 345], [205, 212], [250, 250], [0, 440], [
    430,
    999,
  ]];
  assert.deepEqual(segments.map(([from = 0, to = 0]) => Object.values(audio.segment(from, to))), [
    [200, 400],
    [1000, 1100],
    [1000, 1100],
    [350, 1100],
    [1000, 1100],
    [390, 400],
    [1030, 1040],
    [200, 2000],
    [1990, 2000],
  ]);
  const words = [[0, 150], [190, 260], [100, 330], [195, 225], [430, 999], [300, 300]];
  assert.deepEqual(words.map(([from = 0, to = 0]) => Object.values(audio.word(from, to))), [
    [200, 350],
    [1000, 1040],
    [300, 400],
    [395, 400],
    [1990, 2000],
    [1080, 1081],
  ]);
  const isSpeech = (time: number) => speech.some(({ start, end }) => time >= start * 100 && time <= end * 100);
  for (let from = 0; from < audio.samples.length / 160; from += 3) {
    assert.ok(isSpeech(audio.point(from)), String(from));
    for (let to = from; to < audio.samples.length / 160; to += 7) {
      const [segment, word] = [audio.segment(from, to), audio.word(from, to)];
      assert.ok(isSpeech(segment.start) && isSpeech(segment.end) && segment.start < segment.end, `${from} to ${to}`);
      assert.ok(
        speech.some(({ start, end }) => word.start >= start * 100 && word.end <= end * 100) && word.start < word.end,
        `${from} to ${to}`,
      );
    }
  }
  assert.equal(new SpeechAudio(samples, [], 0.1).samples.length, 0);
});
