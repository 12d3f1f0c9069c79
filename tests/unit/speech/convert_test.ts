import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { GgmlError, InvalidArgumentError, ModelAccessError, ModelNotFoundError } from "../../../lib/errors.ts";
import { joined } from "../../../ffi/memory/concat.ts";
import {
  ConversionError,
  convertCt2Whisper,
  convertSafetensorsWhisper,
  convertSileroVad,
  writeModel,
} from "../../../lib/whisper/convert/mod.ts";
import { melFilters } from "../../../lib/whisper/convert/mel_filters.ts";
import { randomNumbers } from "../../support/random.ts";
import { ct2File, ct2Tensors, hfTensors, safetensorsFile, sileroTensors, vocabularyText } from "../model/builders.ts";

const hf = hfTensors(randomNumbers(1));
const vocabulary = new TextEncoder().encode(vocabularyText());
const config = new TextEncoder().encode(JSON.stringify({ encoder_attention_heads: 2, decoder_attention_heads: 2 }));

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return joined(Uint8Array, parts);
}

async function fails(pieces: AsyncIterable<Uint8Array>, type: typeof GgmlError, message: RegExp): Promise<void> {
  await assert.rejects(collect(pieces), (error) => {
    assert.ok(error instanceof type, String(error));
    assert.match(error.message, message);
    return true;
  });
}

/** The tensors of a file that was written, by name. */
function readBack(
  file: Uint8Array,
): { numbers: number[]; tokens: number; tensors: Map<string, { type: number; dims: number[] }> } {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const numbers = Array.from({ length: 14 }, (_, index) => view.getInt32(index * 4, true));
  let at = 56 + 80 * 201 * 4;
  const tokens = view.getInt32(at, true);
  at += 4;
  for (let token = 0; token < tokens; token++) at += 4 + view.getInt32(at, true);
  const tensors = new Map<string, { type: number; dims: number[] }>();
  while (at < file.length) {
    const [rank, length, type] = [0, 4, 8].map((place) => view.getInt32(at + place, true)) as [number, number, number];
    const dims = Array.from({ length: rank }, (_, index) => view.getInt32(at + 12 + index * 4, true));
    at += 12 + rank * 4;
    tensors.set(new TextDecoder().decode(file.subarray(at, at + length)), { type, dims });
    at += length + dims.reduce((product, size) => product * size, 1) * (type === 0 ? 4 : 2);
  }
  assert.equal(at, file.length);
  return { numbers, tokens, tensors };
}

test("one model out of CTranslate2 and out of safetensors is the same file", async () => {
  const fromCt2 = await collect(convertCt2Whisper(ct2File(ct2Tensors(hf)), vocabulary));
  for (const type of ["F32", "F16", "BF16"] as const) {
    const file = safetensorsFile(hf, type);
    const fromSafetensors = await collect(convertSafetensorsWhisper(file, vocabulary, { config }));
    // BF16 keeps eight bits of each number: those here need nine.
    if (type === "BF16") assert.equal(fromSafetensors.length, fromCt2.length);
    else assert.ok(Buffer.from(fromCt2).equals(fromSafetensors), type);
  }
  const { numbers, tokens, tensors } = readBack(fromCt2);
  assert.deepEqual(numbers, [0x67676d6c, 12, 6, 4, 2, 1, 5, 4, 2, 1, 80, 1, 80, 201]);
  assert.equal(tokens, 50_257);
  assert.equal(tensors.size, 7 + 4 + 15 + 24);
  assert.deepEqual(tensors.get("encoder.conv1.bias"), { type: 0, dims: [1, 4] });
  assert.deepEqual(tensors.get("encoder.conv1.weight"), { type: 1, dims: [3, 80, 4] });
  assert.deepEqual(tensors.get("encoder.positional_embedding"), { type: 0, dims: [4, 6] });
  assert.deepEqual(tensors.get("decoder.blocks.0.mlp.0.weight"), { type: 1, dims: [4, 16] });
  assert.equal(tensors.has("decoder.blocks.0.attn.key.bias"), false);
});

test("a file in parts, at any places", async () => {
  const file = ct2File(ct2Tensors(hf));
  const whole = createHash("sha256").update(await collect(convertCt2Whisper(file, vocabulary))).digest("hex");
  for (const at of [0, 1, 5, 100, file.length - 1]) {
    const parts = [file.subarray(0, at), file.subarray(at)];
    const bytes = await collect(convertCt2Whisper(parts, vocabulary));
    assert.equal(createHash("sha256").update(bytes).digest("hex"), whole);
  }
  const [first, second] = [new Map([...hf].slice(0, 9)), new Map([...hf].slice(9))].map((part) =>
    safetensorsFile(part)
  );
  const split = await collect(
    convertSafetensorsWhisper([first as Uint8Array, second as Uint8Array], vocabulary, { config }),
  );
  assert.equal(createHash("sha256").update(split).digest("hex"), whole);
});

test("CTranslate2's 8-bit whole numbers are read as what they stand for", async () => {
  const exact = new Map(
    [...hf].map(([name, { shape, values }]) =>
      [name, { shape, values: values.map((value) => (Math.round(value * 64) + 0) / 64) }] as const
    ),
  );
  const tensors = ct2Tensors(exact);
  const scaled = [...tensors.keys()].filter((name) => name.endsWith("linear_0/weight"));
  assert.ok(scaled.length > 3);
  const plain = await collect(convertCt2Whisper(ct2File(tensors), vocabulary));
  assert.ok(Buffer.from(plain).equals(await collect(convertCt2Whisper(ct2File(tensors, scaled), vocabulary))));
});

test("a vocabulary in each of its forms", async () => {
  const tokens = vocabularyText().split("\n");
  const ids = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const { "<|endoftext|>": end, ...vocab } = ids;
  const forms = [
    tokens.join("\r\n"),
    JSON.stringify(tokens),
    JSON.stringify(ids),
    JSON.stringify({ model: { vocab }, added_tokens: [{ id: end, content: "<|endoftext|>" }] }),
  ];
  const file = ct2File(ct2Tensors(hf));
  const whole = await collect(convertCt2Whisper(file, vocabulary));
  for (const form of forms) {
    const bytes = await collect(convertCt2Whisper(file, new TextEncoder().encode(form)));
    assert.ok(Buffer.from(whole).equals(bytes), form.slice(0, 20));
  }
  const few = new TextEncoder().encode(tokens.slice(0, 300).join("\n"));
  await fails(
    convertCt2Whisper(file, few),
    ConversionError,
    /has no token 300; give the vocabulary of a Whisper model/,
  );
  const odd = new TextEncoder().encode(["\u4f60", ...tokens].join("\n"));
  await fails(convertCt2Whisper(file, odd), ConversionError, /which stands for no byte/);
  await fails(convertCt2Whisper(file, Uint8Array.of(0xff, 0xfe)), ConversionError, /isn't text/);
  await fails(convertCt2Whisper(file, join(tmpdir(), "none")), ModelNotFoundError, /there is no file/);
});

test("mel filters: each of Slaney's area, one after another", () => {
  for (const count of [80, 128]) {
    const filters = melFilters(count);
    let before = 0;
    for (let row = 0; row < count; row++) {
      const weights = filters.subarray(row * 201, (row + 1) * 201);
      assert.ok(weights.every((weight) => weight >= 0));
      const peak = weights.indexOf(Math.max(...weights));
      assert.ok(peak >= before);
      before = peak;
    }
    // A wide filter's weights are a triangle of area one over a line each 40 Hz.
    const last = filters.subarray(-201).reduce((sum, weight) => sum + weight, 0);
    assert.ok(Math.abs(last * 40 - 1) < 0.03, String(last * 40));
  }
});

test("Silero: the file that whisper.cpp reads", async () => {
  const tensors = sileroTensors(randomNumbers(2));
  const bytes = await collect(convertSileroVad(safetensorsFile(tensors), { version: "5.1.2" }));
  assert.equal(bytes.length, 885_098);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  assert.deepEqual([18, 22, 26].map((at) => view.getInt32(at, true)), [5, 1, 2]);
  const text = new TextDecoder("latin1").decode(bytes);
  assert.ok(text.indexOf("_model.encoder.0.reparam_conv.weight") < text.indexOf("_model.stft.forward_basis_buffer"));
  for (const version of ["6", "6.2", "v6.2.0", "6.2.0.1", "", 6 as never, "99999.0.0"]) {
    assert.throws(() => convertSileroVad(new Uint8Array(0), { version }), InvalidArgumentError);
  }
  tensors.delete("conv3.bias");
  await fails(convertSileroVad(safetensorsFile(tensors)), ConversionError, /has no tensor conv3.bias/);
});

test("models of another kind, and models that can't be sound", async () => {
  const tensors = ct2Tensors(hf);
  await fails(
    convertCt2Whisper(ct2File(tensors, [], "TransformerSpec"), vocabulary),
    ConversionError,
    /is a TransformerSpec, no Whisper/,
  );
  await fails(
    convertCt2Whisper(safetensorsFile(hf), vocabulary),
    ConversionError,
    /isn't a CTranslate2 model of version 4 to 7/,
  );
  await fails(
    convertSafetensorsWhisper(ct2File(tensors), vocabulary),
    ConversionError,
    /isn't a sound safetensors file/,
  );
  await fails(
    convertSafetensorsWhisper(safetensorsFile(sileroTensors(randomNumbers(3))), vocabulary),
    ConversionError,
    /has no tensor/,
  );
  await fails(convertCt2Whisper(new Uint8Array(0), vocabulary), ConversionError, /is cut off or damaged/);
  await fails(convertCt2Whisper([], vocabulary), InvalidArgumentError, /has no parts/);
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  const wrong = proxy as unknown as string;
  for (
    const pieces of [
      convertCt2Whisper(wrong, vocabulary),
      convertSafetensorsWhisper(wrong, vocabulary),
      convertSileroVad(wrong),
    ]
  ) {
    await fails(pieces, InvalidArgumentError, /the model is an object; expected a path/);
  }
  for (const pieces of [undefined, 5, proxy, []]) {
    await assert.rejects(writeModel("never.bin", pieces as never), InvalidArgumentError);
  }
  await fails(convertCt2Whisper(undefined as never, vocabulary), InvalidArgumentError, /the model is undefined/);
  await fails(convertCt2Whisper("", vocabulary), InvalidArgumentError, /the model is ""/);
  // Without a config each head has 64 numbers, which 4 aren't.
  await fails(convertSafetensorsWhisper(safetensorsFile(hf), vocabulary), ConversionError, /audioHeads is 0.0625/);
  const change = (name: string, at: number, value: number) => {
    const changed = new Map(tensors);
    const { shape, values } = changed.get(name) as { shape: readonly number[]; values: Float32Array };
    const copy = values.slice();
    copy[at] = value;
    return ct2File(changed.set(name, { shape, values: copy }));
  };
  const nan = change("decoder/layer_0/ffn/linear_0/weight", 7, NaN);
  await fails(convertCt2Whisper(nan, vocabulary), ConversionError, /linear_0\/weight of .* has NaN at 7/);
  const keyBias = change("encoder/layer_0/self_attention/linear_0/bias", 5, 1);
  await fails(convertCt2Whisper(keyBias, vocabulary), ConversionError, /adds to keys, which Whisper's never do/);
  const heads = change("encoder/num_heads", 0, 3);
  await fails(convertCt2Whisper(heads, vocabulary), ConversionError, /4 numbers can't be shared by 3 heads/);
});

test("a model is written whole or not at all", async () => {
  const folder = await mkdtemp(join(tmpdir(), "convert-"));
  try {
    const path = join(folder, "model.bin");
    const file = ct2File(ct2Tensors(hf));
    const source = join(folder, "source.bin");
    await writeFile(source, file);
    const length = await writeModel(path, convertCt2Whisper(source, vocabulary));
    assert.deepEqual(
      new Uint8Array(await readFile(path)),
      new Uint8Array(await collect(convertCt2Whisper(file, vocabulary))),
    );
    assert.equal((await readFile(path)).length, length);
    const other = join(folder, "other.bin");
    await assert.rejects(
      writeModel(other, convertCt2Whisper(file.subarray(0, file.length - 9), vocabulary)),
      ConversionError,
    );
    const controller = new AbortController();
    const stopped = async function* () {
      for await (const piece of convertCt2Whisper(source, vocabulary)) {
        yield piece;
        controller.abort(new Error("enough"));
      }
    };
    await assert.rejects(writeModel(other, stopped(), { signal: controller.signal }), /enough/);
    assert.equal(existsSync(other), false);
    assert.deepEqual((await readdir(folder)).sort(), ["model.bin", "source.bin"]);
    const nowhere = join(folder, "none", "model.bin");
    await assert.rejects(writeModel(nowhere, convertCt2Whisper(file, vocabulary)), ModelAccessError);
    await assert.rejects(writeModel(folder, convertCt2Whisper(file, vocabulary)), ModelAccessError);
  } finally {
    await rm(folder, { recursive: true });
  }
});

const mutations = 300;

test(`${mutations} damaged models of other programs: a file or an error of ours`, { timeout: 120_000 }, async () => {
  const random = randomNumbers(4);
  const below = (count: number) => Math.floor(random() * count);
  const sources = [ct2File(ct2Tensors(hf)), safetensorsFile(hf)];
  let [made, refused] = [0, 0];
  for (let round = 0; round < mutations; round++) {
    const kind = below(2);
    const whole = sources[kind] as Uint8Array<ArrayBuffer>;
    const file = random() < 0.2 ? whole.slice(0, below(whole.length)) : whole.slice();
    for (let changes = below(4); changes >= 0 && file.length > 0; changes--) {
      file[below(random() < 0.5 ? Math.min(file.length, 600) : file.length)] = below(256);
    }
    const pieces = kind === 0
      ? convertCt2Whisper(file, vocabulary)
      : convertSafetensorsWhisper(file, vocabulary, { config });
    try {
      for await (const piece of pieces) assert.ok(piece.length >= 0);
      made++;
    } catch (error) {
      if (!(error instanceof GgmlError)) throw error;
      refused++;
    }
  }
  assert.ok(made > 20 && refused > 20, `${made} made, ${refused} refused`);
});
