import assert from "node:assert/strict";
import test, { after } from "node:test";
import { inspect } from "node:util";
import type { Pointer } from "../../ffi/mod.ts";
import { Registry } from "../../lib/ggml/mod.ts";
import { type DeviceList, gpuOf } from "../../lib/whisper/model/devices.ts";
import { joined } from "../../ffi/memory/concat.ts";
import { GgmlError, loadWhisper, type TranscribeOptions, type WhisperAudio } from "../../lib/whisper/mod.ts";
import { tinyEnglishPath, voiceActivityPath } from "./files.ts";
import { jfkSamples, music, noise, silence } from "./support.ts";

const whisper = await loadWhisper(tinyEnglishPath, { threads: 1, vadModel: voiceActivityPath });
after(() => whisper.dispose());

const audio = jfkSamples().subarray(0, 16_000);

test("bad options are refused at once, each by its name and value", () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ language: "" }, /language is empty/],
    [{ language: 7 }, /language is 7/],
    [{ language: "e\0n" }, /NUL/],
    [{ prompt: "\ud800" }, /half of a surrogate pair/],
    [{ beamSize: 0 }, /beamSize is 0/],
    [{ beamSize: 9 }, /beamSize is 9.*1 to 8/],
    [{ bestOf: 100 }, /bestOf is 100/],
    [{ temperature: NaN }, /temperature is NaN/],
    [{ temperature: 1.1 }, /temperature is 1.1/],
    [{ temperatureIncrement: -0.1 }, /temperatureIncrement is -0.1/],
    [{ temperatureIncrement: 1e-9 }, /temperatureIncrement is 1e-9/],
    [{ noSpeechThreshold: 2 }, /noSpeechThreshold is 2/],
    [{ logprobThreshold: 1 }, /logprobThreshold is 1/],
    [{ audioContext: 1501 }, /audioContext is 1501/],
    [{ offset: -1 }, /offset is -1/],
    [{ duration: Infinity }, /duration is Infinity/],
    [{ threads: 5000 }, /threads is 5000/],
    [{ maxLength: 1.5 }, /maxLength is 1.5/],
    [{ suppressTokens: [1, -1] }, /suppressTokens\[1\] is -1/],
    [{ suppressTokens: [51_864] }, /has 51864.*51864 tokens/],
    [{ suppressTokens: 3 }, /suppressTokens is 3/],
    [{ suppressRegex: "a" }, /suppressRegex is "a"/],
    [{ grammarPenalty: -1 }, /grammarPenalty is -1/],
    [{ sampleRate: 10 }, /sampleRate is 10/],
    [{ vad: "on" }, /options of vad/],
    [{ vad: { threshold: 2 } }, /threshold is 2/],
    [{ vad: { treshold: 0.2 } }, /did you mean threshold/],
    [{ signal: 1 }, /signal is 1/],
    [{ wordTimestamp: true }, /did you mean wordTimestamps/],
    [[], /options of whisper\.transcribe/],
  ];
  for (const [options, words] of cases) {
    assert.throws(() => whisper.transcribe(audio, options as TranscribeOptions), (error: GgmlError) => {
      assert.equal(error.code, "INVALID_ARGUMENT", String(words));
      assert.match(error.message, words);
      return true;
    });
  }
  for (const grammar of ["root ::= root", "root ::= [", "other ::= [a-z]", "root ::= <[5]>"]) {
    assert.throws(() => whisper.transcribe(audio, { grammar }), { code: "GRAMMAR" }, grammar);
  }
  assert.throws(() => whisper.transcribe(audio, { translate: true }), { code: "UNSUPPORTED_MODEL" });
});

test("a language that the model or whisper.cpp doesn't know rejects", async () => {
  await assert.rejects(async () => await whisper.transcribe(audio, { language: "klingon" }), {
    code: "INVALID_ARGUMENT",
  });
  await assert.rejects(async () => await whisper.transcribe(audio, { language: "de" }), { code: "UNSUPPORTED_MODEL" });
  await assert.rejects(whisper.detectLanguage(audio), { code: "UNSUPPORTED_MODEL" });
  assert.equal((await whisper.transcribe(audio, { language: "English" })).language, "en");
});

test("what is no audio is refused", async () => {
  for (
    const [value, code] of [[undefined, "INVALID_ARGUMENT"], [[1, 2], "INVALID_ARGUMENT"], [
      new Int16Array(5),
      "INVALID_ARGUMENT",
    ], [new Float32Array(0), "AUDIO_EMPTY"]] as const
  ) {
    assert.throws(() => whisper.transcribe(value as WhisperAudio), { code });
  }
  const odd = new Float32Array(40_000);
  odd[39_999] = NaN;
  await assert.rejects(async () => await whisper.transcribe(odd), { code: "AUDIO_SAMPLE" });
  odd[39_999] = Infinity;
  await assert.rejects(whisper.detectSpeech(odd), { code: "AUDIO_SAMPLE" });
  await assert.rejects(async () => await whisper.transcribe("/there/is/no.wav"), { code: "AUDIO_NOT_FOUND" });
  await assert.rejects(
    async () => await whisper.transcribe(new Uint8Array(100), { ffmpeg: false }),
    (error) => error instanceof GgmlError,
  );
});

test("one sample, and less than a tenth of a second, have no text", async () => {
  for (const length of [1, 100, 1_599]) {
    for (const vad of [false, true]) {
      const { text, segments } = await whisper.transcribe(jfkSamples().subarray(0, length), { vad });
      assert.deepEqual([text, segments], ["", []]);
    }
  }
});

test("silence, noise and music have no text where speech is looked for", async () => {
  const sounds = {
    silence: silence(8),
    quiet: noise(8, 0.01, 1),
    loud: noise(8, 0.5, 2),
    music: music(10),
    hum: noise(4, 1e-7, 3),
  };
  for (const [name, samples] of Object.entries(sounds)) {
    const { text, speech, segments } = await whisper.transcribe(samples, { vad: true });
    assert.deepEqual([text, speech, segments], ["", [], []], name);
  }
  const between = joined(Float32Array, [music(5), jfkSamples(), noise(5, 0.05, 4)]);
  const { segments, speech } = await whisper.transcribe(between, { vad: true });
  assert.ok((speech?.length ?? 0) > 0);
  assert.ok(segments.every(({ start, end }) => start >= 4.5 && end <= 17.5));
  assert.match(segments.map(({ text }) => text).join(""), /fellow Americans/);
});

test("without a model for voice activity speech can't be looked for", async () => {
  await using other = await loadWhisper(tinyEnglishPath, { threads: 1, vadModel: voiceActivityPath });
  await other.dispose();
  assert.throws(() => other.transcribe(audio), { code: "DISPOSED" });
  await assert.rejects(other.detectSpeech(audio), { code: "DISPOSED" });
  assert.throws(() => other.live(new ReadableStream()), { code: "DISPOSED" });
  await other.dispose();
});

test("what is under way when a model is disposed is finished", async () => {
  const other = await loadWhisper(tinyEnglishPath, { threads: 1 });
  const work = other.transcribe(audio, { vad: false });
  await other.dispose();
  assert.equal((await work).language, "en");
});

test("a model computes on the device that is named, and what whisper.cpp can't compute on is refused", async () => {
  const registry = await Registry.open();
  const [cpu] = registry.devices.filter(({ kind }) => kind === "cpu");
  assert.ok(cpu !== undefined);
  await using named = await loadWhisper(tinyEnglishPath, { threads: 1, devices: [cpu] });
  assert.equal((await named.transcribe(audio, { duration: 0.5, vad: false })).language, "en");
  for (const devices of [[], [cpu, cpu], ["CPU"], "CPU", 0, [{ endpoint: "127.0.0.1:1", index: 0 }]]) {
    await assert.rejects(loadWhisper(tinyEnglishPath, { devices } as never), { code: "INVALID_ARGUMENT" });
  }
  await assert.rejects(loadWhisper(tinyEnglishPath, { gpu: false } as never), /no option "gpu"/);
  // A machine with two GPUs, and an accelerator before them.
  const kinds = ["accelerator", "gpu", "cpu", "igpu"] as const;
  const types = [3, 1, 0, 2];
  const lib: DeviceList = {
    ggml_backend_dev_count: () => BigInt(types.length),
    ggml_backend_dev_get: (index) => index + 1n as Pointer<"ggml_backend_device">,
    ggml_backend_dev_type: (pointer) => types[Number(pointer) - 1] as never,
  };
  const choice = (index: number) =>
    gpuOf(lib, {
      kind: kinds[index] ?? "other",
      name: "ACCEL",
      unsafePointer: BigInt(index + 1) as Pointer<"ggml_backend_device">,
    });
  assert.deepEqual([1, 3, 2].map(choice), [
    { useGpu: true, gpuDevice: 0 },
    { useGpu: true, gpuDevice: 1 },
    { useGpu: false, gpuDevice: 0 },
  ]);
  assert.throws(() => choice(0), /ACCEL of the kind accelerator, on which whisper.cpp doesn't/);
});

test("a model has a picture, and knows whether it was disposed", async () => {
  const other = await loadWhisper(tinyEnglishPath, { threads: 1 });
  const picture = `Whisper tiny, f16, ${tinyEnglishPath}, 1 thread`;
  assert.deepEqual([String(other), inspect(other), other.disposed], [picture, picture, false]);
  await other.dispose();
  assert.deepEqual([inspect([other]), other.disposed], ["[ Whisper (disposed) ]", true]);
});
