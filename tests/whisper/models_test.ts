import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { defaultModelPath } from "../../lib/models/default_model.ts";
import { GgmlError, loadWhisper, type WhisperOptions } from "../../lib/whisper/mod.ts";
import { randomNumbers } from "../support/random.ts";
import { jfkPath, tinyEnglishPath, voiceActivityPath } from "./files.ts";
import { mutated, smallModel } from "./small_model.ts";
import { noise } from "./support.ts";

/** How many files with something wrong; 2,000 by hand: GGML_FFI_MUTATIONS=2000. */
const mutations = Number(process.env["GGML_FFI_MUTATIONS"] ?? 150);

test("a model of one layer loads from bytes, a path and a URL, and transcribes", async () => {
  const { bytes } = smallModel();
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-test-"));
  try {
    const path = join(folder, "small model ä.bin");
    writeFileSync(path, bytes);
    for (const source of [bytes, bytes.buffer, path, pathToFileURL(path), pathToFileURL(path).href]) {
      const seen: number[] = [];
      await using whisper = await loadWhisper(source, { threads: 1, onProgress: (part) => seen.push(part) });
      assert.deepEqual([whisper.info.vocabularySize, whisper.info.width, whisper.info.multilingual], [51864, 8, false]);
      assert.equal(whisper.info.weightType, "f16");
      assert.ok(seen.length > 0 && seen.every((part) => part > 0 && part <= 1));
      const { timings } = await whisper.transcribe(noise(1, 0.1, 1), { maxTokens: 4, temperatureIncrement: 0 });
      assert.equal(timings.audioSeconds, 1);
    }
    assert.equal(bytes.length, smallModel().bytes.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what is no model is refused by an error that says what it is", async () => {
  const { bytes, headerBytes } = smallModel();
  const cut = (length: number) => bytes.slice(0, length);
  const set = (at: number, value: number) => {
    const copy = bytes.slice();
    new DataView(copy.buffer).setInt32(at, value, true);
    return copy;
  };
  const cases: readonly (readonly [unknown, string, RegExp])[] = [
    ["/there/is/no/model.bin", "MODEL_NOT_FOUND", /no file \/there\/is\/no\/model\.bin/],
    [tmpdir(), "MODEL_NOT_FOUND", /is not a file/],
    [await defaultModelPath(), "NOT_WHISPER_MODEL", /is a GGUF file/],
    [jfkPath, "NOT_WHISPER_MODEL", /starts with 0x/],
    [new Uint8Array(0), "NOT_WHISPER_MODEL", /0 bytes/],
    [voiceActivityPath, "WHISPER_FORMAT", /n_vocab is 10/],
    [cut(20), "WHISPER_TRUNCATED", /ends inside the numbers/],
    [cut(1000), "WHISPER_TRUNCATED", /ends inside the filters/],
    [cut(headerBytes - 5), "WHISPER_TRUNCATED", /ends inside the vocabulary/],
    [cut(bytes.length - 1), "WHISPER_TRUNCATED", /ends inside the data of/],
    [cut(headerBytes), "WHISPER_FORMAT", /number of tensors is 0/],
    [set(4, 51867), "WHISPER_FORMAT", /n_vocab is 51867/],
    [set(16, 3), "WHISPER_FORMAT", /n_audio_head is 3/],
    [set(28, 16), "WHISPER_FORMAT", /n_text_state is 16/],
    [set(44, 2), "WHISPER_FORMAT", /block of q4_0/],
    [set(44, 99), "WHISPER_FORMAT", /ftype is 99/],
    ["http://example.com/model.bin", "INVALID_ARGUMENT", /isn't an https: address/],
    ["data:,model", "INVALID_ARGUMENT", /can't be loaded from an address/],
    ["", "INVALID_ARGUMENT", /is ""/],
    [7, "INVALID_ARGUMENT", /is 7/],
  ];
  for (const [source, code, words] of cases) {
    await assert.rejects(loadWhisper(source as string), (error: GgmlError) => {
      assert.equal(error.code, code, error.message);
      assert.match(error.message, words);
      return true;
    });
  }
});

test("bad options of a load are refused, each by its name", async () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ threads: 0 }, /threads is 0/],
    [{ parallel: 65 }, /parallel is 65/],
    [{ gpu: true }, /no option "gpu"/],
    [{ alignment: "huge" }, /alignment is "huge"/],
    [{ alignment: "tiny", flashAttention: true }, /flashAttention/],
    [{ onProgress: 1 }, /onProgress is 1/],
    [{ thread: 1 }, /did you mean threads/],
    [[], /options of loadWhisper/],
    [{ vadModel: 3 }, /vadModel is 3/],
  ];
  for (const [options, words] of cases) {
    await assert.rejects(loadWhisper(tinyEnglishPath, options as WhisperOptions), (error: GgmlError) => {
      assert.equal(error.code, "INVALID_ARGUMENT");
      assert.match(error.message, words);
      return true;
    });
  }
  const vads: readonly (readonly [unknown, string])[] = [
    ["/no/vad.bin", "MODEL_NOT_FOUND"],
    [tinyEnglishPath, "WHISPER_FORMAT"],
    [readFileSync(voiceActivityPath).subarray(0, 5000), "WHISPER_TRUNCATED"],
  ];
  for (const [vadModel, code] of vads) {
    await assert.rejects(loadWhisper(tinyEnglishPath, { vadModel: vadModel as string }), { code });
  }
});

test("a load is cancelled, before and meanwhile, and an error of onProgress ends it", async () => {
  const reason = new Error("enough");
  await assert.rejects(loadWhisper(tinyEnglishPath, { signal: AbortSignal.abort(reason) }), reason);
  const control = new AbortController();
  const onProgress = () => control.abort(reason);
  await assert.rejects(loadWhisper(tinyEnglishPath, { signal: control.signal, onProgress }), reason);
  const thrown = new Error("mine");
  await assert.rejects(
    loadWhisper(tinyEnglishPath, {
      onProgress: () => {
        throw thrown;
      },
    }),
    thrown,
  );
  await using whisper = await loadWhisper(tinyEnglishPath);
  assert.equal(whisper.info.size, "tiny");
});

test(`${mutations} models with something wrong: an error of ours or text, no crash, no hang`, async () => {
  const { bytes, headerBytes } = smallModel();
  const next = randomNumbers(20_250);
  const outcomes = new Map<string, number>();
  const count = (what: string) => outcomes.set(what, (outcomes.get(what) ?? 0) + 1);
  const audio = noise(1, 0.1, 2);
  for (let index = 0; index < mutations; index++) {
    try {
      await using whisper = await loadWhisper(mutated(bytes, headerBytes, next), { threads: 1 });
      await whisper.transcribe(audio, { maxTokens: 2, temperatureIncrement: 0, vad: false, audioContext: 64 });
      count("text");
    } catch (error) {
      if (!(error instanceof GgmlError)) throw error;
      count(error.code);
    }
  }
  if (mutations > 150) console.log(Object.fromEntries(outcomes));
  assert.ok((outcomes.get("WHISPER_FORMAT") ?? 0) > 0 && (outcomes.get("WHISPER_TRUNCATED") ?? 0) > 0);
  for (const lost of ["NATIVE_ABORT", "NATIVE_HANG", "NATIVE_THREAD"]) {
    assert.equal(outcomes.get(lost), undefined, lost);
  }
});

test("models for voice activity with something wrong are refused, or find speech or none", async () => {
  const bytes = new Uint8Array(readFileSync(voiceActivityPath));
  const next = randomNumbers(7);
  const audio = noise(1, 0.1, 3);
  const { bytes: speech } = smallModel();
  for (let index = 0; index < Math.ceil(mutations / 5); index++) {
    try {
      await using whisper = await loadWhisper(speech, { vadModel: mutated(bytes, 120, next), threads: 1 });
      await whisper.detectSpeech(audio);
    } catch (error) {
      if (!(error instanceof GgmlError)) throw error;
      assert.doesNotMatch(error.code, /NATIVE/, error.message);
    }
  }
});
