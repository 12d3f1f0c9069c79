import assert from "node:assert/strict";
import test from "node:test";
import { InvalidArgumentError } from "../../../lib/errors.ts";
import { resample, Resampler } from "../../../lib/whisper/audio/resampler.ts";
import { randomNumbers } from "../../support/random.ts";

const rates = [8_000, 11_025, 12_345, 22_050, 24_000, 32_000, 44_100, 44_101, 48_000, 96_000, 192_000];

function tone(rate: number, hertz: number): Float32Array {
  return Float32Array.from({ length: rate / 4 }, (_, index) => Math.sin(2 * Math.PI * hertz * index / rate));
}

/** Decibels of the mean square of what `of` gives for the samples between the ends. */
function decibels(length: number, of: (index: number) => number): number {
  let sum = 0;
  for (let index = 600; index < length - 600; index++) sum += of(index) ** 2;
  return 10 * Math.log10(sum / (length - 1200) * 2);
}

for (const rate of rates) {
  test(`${rate} Hz to 16 kHz: what whisper hears passes unchanged, in place`, () => {
    for (const part of [0.003, 0.05, 0.2, 0.4, 0.45]) {
      const hertz = Math.round(part * Math.min(rate, 16_000));
      const out = resample(tone(rate, hertz), rate);
      assert.equal(out.length, Math.ceil(Math.floor(rate / 4) * 16_000 / rate));
      const error = decibels(out.length, (at) => (out[at] ?? NaN) - Math.sin(2 * Math.PI * hertz * at / 16_000));
      assert.ok(error < -94, `${hertz} Hz: an error of ${error} dB`);
    }
  });
}

for (const rate of rates.filter((rate) => rate > 16_000)) {
  test(`${rate} Hz to 16 kHz: what can't be there any more is gone`, () => {
    for (const hertz of [8_000, 8_100, 8_500, 9_500, 12_000, 15_990, 0.47 * rate].filter((one) => one <= rate / 2)) {
      const out = resample(tone(rate, hertz), rate);
      const left = decibels(out.length, (at) => out[at] ?? NaN);
      assert.ok(left < -94, `${hertz} Hz: ${left} dB are left`);
    }
  });
}

test("8 kHz to 16 kHz makes no images", () => {
  const out = resample(tone(8_000, 3_600), 8_000);
  // The image of 3,600 Hz would stand at 4,400 Hz.
  let [re, im] = [0, 0];
  for (let at = 600; at < out.length - 600; at++) {
    re += (out[at] ?? NaN) * Math.cos(2 * Math.PI * 4_400 * at / 16_000);
    im += (out[at] ?? NaN) * Math.sin(2 * Math.PI * 4_400 * at / 16_000);
  }
  const level = 20 * Math.log10(2 * Math.hypot(re, im) / (out.length - 1200));
  // 2,800 samples are a whole number of periods of both tones.
  assert.ok(level < -94, `${level} dB`);
});

test("a constant stays what it is", () => {
  for (const rate of rates) {
    const out = resample(new Float32Array(rate / 4).fill(0.5), rate).subarray(600, -600);
    assert.ok(out.every((value) => Math.abs(value - 0.5) < 1e-6), String(rate));
  }
});

test("pieces of any length give what the whole gives", () => {
  const random = randomNumbers(5);
  for (const rate of [8_000, 16_000, 44_100, 48_000, 12_347]) {
    const samples = Float32Array.from({ length: 6_000 }, () => random() - 0.5);
    const whole = resample(samples, rate);
    const resampler = new Resampler(rate);
    const out: number[] = [];
    for (let at = 0; at < samples.length;) {
      const length = Math.floor(random() * 400);
      out.push(...resampler.push(samples.subarray(at, at + length)));
      at += length;
    }
    out.push(...resampler.flush());
    assert.deepEqual(Float32Array.from(out), whole, String(rate));
  }
});

test("a resampler that was flushed starts anew", () => {
  const resampler = new Resampler(44_100);
  const samples = tone(44_100, 440);
  const run = () => [...resampler.push(samples), ...resampler.flush()];
  assert.deepEqual(run(), run());
});

test("few samples, and none", () => {
  assert.equal(resample(new Float32Array(0), 44_100).length, 0);
  assert.equal(new Resampler(44_100).flush().length, 0);
  for (const rate of [1_000, 8_000, 44_100, 768_000]) {
    for (const length of [1, 2, 3]) {
      const out = resample(new Float32Array(length).fill(1), rate);
      assert.equal(out.length, Math.ceil(length * 16_000 / rate));
      assert.ok(out.every(Number.isFinite));
    }
  }
});

test("wrong rates and samples are refused", () => {
  for (const rate of [0, -1, 999, 768_001, 16_000.5, NaN, Infinity, "16000" as never, undefined as never]) {
    assert.throws(() => new Resampler(rate), InvalidArgumentError);
    assert.throws(() => resample(new Float32Array(1), rate), InvalidArgumentError);
  }
  assert.throws(() => resample([0, 1] as never, 16_000), InvalidArgumentError);
  assert.throws(() => resample(new Float64Array(2) as never, 16_000), InvalidArgumentError);
});
