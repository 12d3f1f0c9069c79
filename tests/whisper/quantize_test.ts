import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import process from "node:process";
import { test } from "node:test";
import { InvalidArgumentError, ModelNotFoundError } from "../../lib/errors.ts";
import { joined } from "../../ffi/memory/concat.ts";
import {
  ConversionError,
  loadWhisper,
  quantizeWhisper,
  type WhisperQuantization,
  whisperQuantizations,
} from "../../lib/whisper/mod.ts";
import { jfkPath, tinyEnglishPath, voiceActivityPath } from "./files.ts";

const slow = { timeout: 240_000 };

/** The files that upstream's whisper-quantize makes of tiny.en. */
const upstreams: Partial<Record<WhisperQuantization, string>> = {
  q5_0: "96c43f8bd09a6ecf1ebef4b38c5b8f3d942a9233aae0fa1e60c9f46ab3bcf767",
  q8_0: "510c99e269d152c17d4f6a445ef91268d38549ea27625587f7fd53d09b7537c4",
};

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return joined(Uint8Array, parts);
}

test("a quantized model is byte for byte upstream's, and still hears", slow, async () => {
  for (const [type, hash] of Object.entries(upstreams) as [WhisperQuantization, string][]) {
    const bytes = await collect(quantizeWhisper(tinyEnglishPath, type));
    // Elsewhere the compiler may round sums of products otherwise.
    if (process.arch === "x64") assert.equal(createHash("sha256").update(bytes).digest("hex"), hash, type);
    await using whisper = await loadWhisper(bytes, { threads: 1 });
    assert.equal(whisper.info.weightType, type);
    const { text } = await whisper.transcribe(jfkPath, { vad: false });
    assert.match(text, /ask not what your country can do for you/i);
  }
});

test("what can't be quantized is refused, with the reason", slow, async () => {
  const run = async (model: string | Uint8Array, type: WhisperQuantization) => {
    for await (const _ of quantizeWhisper(model, type));
  };
  // Rows of 384 numbers aren't whole blocks of 256.
  await assert.rejects(run(tinyEnglishPath, "q4_K"), (error) => {
    assert.ok(error instanceof ConversionError, String(error));
    assert.match(error.message, /can't be quantized to q4_K: .* blocks of 256/);
    return true;
  });
  await assert.rejects(run(voiceActivityPath, "q5_0"), ConversionError);
  await assert.rejects(run(jfkPath, "q5_0"), /isn't a model of whisper.cpp/);
  await assert.rejects(run(new Uint8Array(0), "q5_0"), ConversionError);
  await assert.rejects(run("/no/such/file", "q5_0"), ModelNotFoundError);
  const quantized = await collect(quantizeWhisper(tinyEnglishPath, "q8_0"));
  await assert.rejects(run(quantized, "q5_0"), /is quantized already/);
  await assert.rejects(run(quantized.subarray(0, 1000), "q5_0"), ConversionError);
  for (const type of ["f16", "Q5_0", "", 8]) {
    assert.throws(() => quantizeWhisper(tinyEnglishPath, type as WhisperQuantization), InvalidArgumentError);
  }
  assert.equal(whisperQuantizations.length, 10);
});
