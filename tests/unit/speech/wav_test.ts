import assert from "node:assert/strict";
import test from "node:test";
import { GgmlError, InvalidArgumentError } from "../../../lib/errors.ts";
import {
  AudioEmptyError,
  AudioFormatError,
  AudioSampleError,
  AudioTruncatedError,
  decodeAudio,
  encodeWav,
  readAudio,
  readWavInfo,
  type SampleEncoding,
} from "../../../lib/whisper/audio/mod.ts";
import { joined } from "../../../ffi/memory/concat.ts";
import { randomNumbers } from "../../support/random.ts";
import { buildWav } from "./wav_builder.ts";
import { encodings, refused, values, wav } from "./wav_samples.ts";

for (const name of Object.keys(encodings)) {
  for (const extensible of [false, true]) {
    test(`${name}${extensible ? ", WAVE_FORMAT_EXTENSIBLE" : ""}: each sample is what was written`, async () => {
      assert.deepEqual([...await decodeAudio(wav(name, values, { extensible }))], values);
    });
  }
}

test("A-law and mu-law as ITU-T G.711 has them", async () => {
  // Codes and their sixteen-bit values, from the tables of the recommendation.
  const alaw = [[0xd5, 8], [0x55, -8], [0xaa, 32256], [0x2a, -32256], [0x80, 5504], [0x00, -5504], [
    0xc5,
    264,
  ]] as const;
  const mulaw = [[0xff, 0], [0x7f, 0], [0x80, 32124], [0x00, -32124], [0xf0, 120], [0x70, -120], [0xef, 132]] as const;
  const tables: readonly [number, readonly (readonly [number, number])[]][] = [[6, alaw], [7, mulaw]];
  for (const [codec, table] of tables) {
    const data = Uint8Array.from(table, ([code]) => code);
    const samples = await decodeAudio(buildWav({ codec, bits: 8, data }));
    assert.deepEqual([...samples].map((one) => one * 0x8000 + 0), table.map(([, value]) => value));
  }
});

test("channels: the mean of all, or one of them", async () => {
  const file = wav("f32", [1, 0, -0.5, 0.5, 0.25, 0.75], { channels: 2 });
  assert.deepEqual([...await decodeAudio(file)], [0.5, 0, 0.5]);
  assert.deepEqual([...await decodeAudio(file, { channel: 0 })], [1, -0.5, 0.25]);
  assert.deepEqual([...await decodeAudio(file, { channel: 1 })], [0, 0.5, 0.75]);
  await refused(file, InvalidArgumentError, /channel is 2, but .* has 2; give a number from 0 to 1/, { channel: 2 });
  const six = wav("s16", [0.5, 0.5, 0.5, -0.5, -0.5, -0.5], { channels: 6, extensible: true });
  assert.deepEqual([...await decodeAudio(six)], [0]);
});

test("any rate comes out as 16 kHz", async () => {
  for (const rate of [8_000, 11_025, 44_100, 48_000, 96_000]) {
    const samples = Float32Array.from({ length: rate / 5 }, (_, at) => Math.sin(2 * Math.PI * 440 * at / rate) / 2);
    const out = await decodeAudio(encodeWav(samples, { sampleRate: rate, encoding: "f32" }));
    assert.equal(out.length, 3_200);
    for (let at = 600; at < 2_600; at++) {
      const error = Math.abs((out[at] ?? NaN) - Math.sin(2 * Math.PI * 440 * at / 16_000) / 2);
      assert.ok(error < 1e-4, `${rate} Hz, sample ${at}: ${error}`);
    }
  }
});

test("other chunks, odd ones too, before and after the samples", async () => {
  const odd = Uint8Array.of(1, 2, 3);
  const between = [["LIST", odd], ["fact", new Uint8Array(4)], ["bext", new Uint8Array(603)]] as const;
  const file = wav("s16", values, { between, after: Uint8Array.of(76, 73, 83, 84, 4, 0, 0, 0, 1, 2, 3, 4) });
  assert.deepEqual([...await decodeAudio(file)], values);
});

test("RF64 and BW64", async () => {
  for (const container of ["RF64", "BW64"] as const) {
    assert.deepEqual([...await decodeAudio(wav("s16", values, { container, after: new Uint8Array(8) }))], values);
  }
  await refused(
    wav("s16", values, { container: "RF64", longSize: 2n ** 40n }),
    AudioTruncatedError,
    /announces 1099511627776/,
  );
  await refused(
    wav("s16", values, { container: "RF64", longSize: 2n ** 63n }),
    AudioFormatError,
    /announces 9223372036854775808/,
  );
});

test("a length that the writer didn't know", async () => {
  for (const dataSize of [0, 0xffffffff, 0x7fffffff, 0x7ffff000]) {
    assert.deepEqual([...await decodeAudio(wav("s16", values, { dataSize }))], values);
    const stream = new Blob([wav("s16", values, { dataSize })]).stream();
    assert.deepEqual([...await decodeAudio(stream)], values);
  }
});

test("what is cut off is refused, or read as far as it goes", async () => {
  const whole = wav("s16", values);
  const cut = whole.subarray(0, whole.length - 6);
  await refused(cut, AudioTruncatedError, /announces 16 bytes of samples, 10 are there; .* allowTruncated/);
  await refused(new Blob([cut]).stream(), AudioTruncatedError, /announces 16 bytes of samples, 10 are there/);
  for (const source of [cut, new Blob([cut]).stream()]) {
    assert.deepEqual([...await decodeAudio(source, { allowTruncated: true })], values.slice(0, 5));
    assert.equal(
      (await readWavInfo(source, { allowTruncated: true }).catch(() => undefined))?.frames,
      source === cut ? 5 : undefined,
    );
  }
  for (let length = 1; length < 44; length++) {
    await refused(whole.subarray(0, length), GgmlError, /cut off|no WAV file|ends before its samples|no samples/);
  }
});

test("several data chunks are read one after another, or the first alone", async () => {
  const [first, second] = [Int16Array.of(1000, 2000, 3000), Int16Array.of(-1000, -2000)];
  const bytes = (samples: Int16Array) => new Uint8Array(samples.buffer);
  const more = (size = second.length * 2) => {
    const head = new Uint8Array(new TextEncoder().encode("LIST\x02\0\0\0xxdata????"));
    new DataView(head.buffer).setUint32(14, size, true);
    return joined(Uint8Array, [head, bytes(second)]);
  };
  const file = buildWav({ data: bytes(first), after: more() });
  const scaled = (...all: number[]) => Float32Array.from(all, (value) => value / 32768);
  for (const source of [file, new Blob([file]).stream()]) {
    assert.deepEqual(await decodeAudio(source), scaled(1000, 2000, 3000, -1000, -2000));
  }
  assert.deepEqual(await decodeAudio(file, { dataChunks: "first" }), scaled(1000, 2000, 3000));
  const cut = buildWav({ data: bytes(first), after: more(100) });
  await assert.rejects(decodeAudio(cut), (error: Error) => {
    assert.ok(error instanceof AudioTruncatedError);
    assert.match(error.message, /allowTruncated: true/);
    return true;
  });
  assert.deepEqual(await decodeAudio(cut, { allowTruncated: true }), scaled(1000, 2000, 3000, -1000, -2000));
  assert.deepEqual(await decodeAudio(cut, { dataChunks: "first" }), scaled(1000, 2000, 3000));
  for (const after of ["", "dat", "data\0", "\x01\x02\x03\x04\0\0\0\0", "junk\xff\xff\xff\x7fabc"]) {
    const odd = buildWav({ data: bytes(first), after: Uint8Array.from(after, (one) => one.charCodeAt(0)) });
    assert.deepEqual(await decodeAudio(odd), scaled(1000, 2000, 3000), JSON.stringify(after));
  }
});

test("what has no samples", async () => {
  await refused(new Uint8Array(0), AudioEmptyError, /is empty/);
  await refused(wav("s16", []), AudioEmptyError, /has no samples/);
  await refused(wav("s16", [0]).subarray(0, 45), GgmlError, /cut off/);
  await refused(buildWav({ data: Uint8Array.of(1) }), AudioEmptyError, /has no samples/);
  await refused(buildWav({}).subarray(0, 36), AudioEmptyError, /no data chunk/);
});

test("headers that can't be true are named", async () => {
  await refused(
    wav("s16", values, { rate: 0 }),
    AudioFormatError,
    /a sample rate of 0 Hz; give audio with 1000 to 768000/,
  );
  await refused(wav("s16", values, { rate: 4294967295 }), AudioFormatError, /a sample rate of 4294967295 Hz/);
  await refused(wav("s16", values, { channels: 0 }), AudioFormatError, /has 0 channels/);
  await refused(wav("s16", values, { channels: 65 }), AudioFormatError, /has 65 channels/);
  await refused(
    wav("s16", values, { blockAlign: 3 }),
    AudioFormatError,
    /3 bytes a frame, but 1 channels of 16 bits take 2/,
  );
  await refused(buildWav({ bits: 40, data: new Uint8Array(10) }), AudioFormatError, /PCM .* of 40 bits; give WAV/);
  await refused(buildWav({ codec: 3, bits: 16, data: new Uint8Array(10) }), AudioFormatError, /float .* of 16 bits/);
  await refused(
    buildWav({ codec: 0x11, bits: 4, data: new Uint8Array(10) }),
    AudioFormatError,
    /IMA ADPCM \(0x11\) of 4 bits/,
  );
});

test("what isn't WAV is called by its name", async () => {
  const start = (text: string) => new Uint8Array([...text].map((one) => one.charCodeAt(0)).concat(Array(40).fill(0)));
  await refused(start("ID3"), AudioFormatError, /is no WAV file: it is MP3; give WAV/);
  await refused(start("OggS"), AudioFormatError, /it is Ogg/);
  await refused(start("\0\0\0\x20ftypM4A "), AudioFormatError, /it is MP4/);
  await refused(start("GGUF"), AudioFormatError, /it is a model \(GGUF\), no audio/);
  await refused(start("RIFF\0\0\0\0AVI "), AudioFormatError, /it is AVI/);
  await refused(start("hello"), AudioFormatError, /it is something that starts with "hell"/);
  await assert.rejects(readWavInfo(start("fLaC")), /it is FLAC; give WAV/);
});

test("samples that are no numbers are refused with their place", async () => {
  for (const [value, shown] of [[NaN, "NaN"], [Infinity, "Infinity"], [-Infinity, "-Infinity"]] as const) {
    const samples = Array<number>(20_000).fill(0);
    samples[16_001] = value;
    await refused(wav("f32", samples), AudioSampleError, new RegExp(`sample 16001 \\(at 1.000 s\\) is ${shown};`));
    await refused(wav("f64", samples, { channels: 2 }), AudioSampleError, /sample 8000 \(at 0.500 s\)/);
  }
  await refused(wav("f64", [1e300]), AudioSampleError, /sample 0 .* is Infinity/);
  await refused(wav("f32", [1e38]), AudioSampleError, /sample 0/);
});

test("raw samples without a header", async () => {
  const data = new Uint8Array(Int16Array.of(0, 0x4000, -0x8000).buffer);
  const raw = { encoding: "s16", sampleRate: 16_000, channels: 1 } as const;
  assert.deepEqual([...await decodeAudio(new Blob([data]).stream(), { raw })], [0, 0.5, -1]);
  assert.throws(() => readAudio(data, { raw: { ...raw, encoding: "s17" as SampleEncoding } }), InvalidArgumentError);
  assert.throws(() => readAudio(data, { raw: { ...raw, channels: 0 } }), InvalidArgumentError);
});

test("wrong options are refused at once", () => {
  const file = wav("s16", values);
  const wrong: readonly unknown[] = [
    { channel: -1 },
    { channel: 64 },
    { channel: "left" },
    { sampleRate: 0 },
    { ffmpeg: 1 },
    { ffmpeg: "" },
    { allowTruncated: 1 },
    { signal: {} },
    { chanel: 0 },
    5,
    [],
  ];
  for (const options of wrong) assert.throws(() => readAudio(file, options as never), InvalidArgumentError);
});

test("what a header says", async () => {
  const info = await readWavInfo(wav("s24", [...values, ...values], { rate: 48_000, channels: 2 }));
  assert.deepEqual(info, { encoding: "s24", sampleRate: 48_000, channels: 2, frames: 8, duration: 8 / 48_000 });
  const { frames } = await readWavInfo(new Blob([wav("s16", values, { dataSize: 0xffffffff })]).stream());
  assert.equal(frames, undefined);
});

test("encodeWav writes what can be read again, and refuses what it can't write", async () => {
  const samples = Float32Array.of(0, 0.25, 2, -2);
  assert.deepEqual([...await decodeAudio(encodeWav(samples))], [0, 0.25, 32_767 / 32_768, -1]);
  assert.deepEqual([...await decodeAudio(encodeWav(samples, { encoding: "f32" }))], [0, 0.25, 2, -2]);
  assert.deepEqual([...await decodeAudio(encodeWav(samples, { channels: 2 }), { channel: 1 })], [0.25, -1]);
  for (
    const wrong of [[samples, { channels: 3 }], [[0], {}], [samples, { sampleRate: 1 }], [samples, { encoding: "u8" }]]
  ) {
    assert.throws(() => encodeWav(wrong[0] as never, wrong[1] as never), InvalidArgumentError);
  }
});

/** How many damaged files: the issue asks for 2,000. */
const mutations = 2_000;

test(`${mutations} damaged WAV files give samples or an error of ours`, { timeout: 120_000 }, async () => {
  const random = randomNumbers(20_260_101);
  const below = (count: number) => Math.floor(random() * count);
  const kinds = Object.keys(encodings);
  const long = Array.from({ length: 300 }, () => random() * 2 - 1);
  let [read, refusals] = [0, 0];
  for (let round = 0; round < mutations; round++) {
    const file = wav(kinds[below(kinds.length)] ?? "s16", long, {
      extensible: random() < 0.3,
      channels: 1 + below(3),
      rate: [8_000, 16_000, 44_100, 48_000][below(4)] ?? 16_000,
      container: (["RIFF", "RF64", "BW64"] as const)[below(3)] ?? "RIFF",
      between: random() < 0.5 ? [["LIST", new Uint8Array(below(40))]] : [],
    });
    const cut = random() < 0.2 ? file.slice(0, below(file.length)) : file;
    // Mostly in the header, where it hurts.
    for (let changes = below(6); changes >= 0 && cut.length > 0; changes--) {
      const at = below(random() < 0.8 ? Math.min(cut.length, 100) : cut.length);
      cut[at] = random() < 0.5 ? below(256) : [0, 1, 0x7f, 0x80, 0xff][below(5)] ?? 0;
    }
    const source = random() < 0.5 ? cut : new Blob([cut]).stream();
    try {
      const samples = await decodeAudio(source, { ffmpeg: false, allowTruncated: random() < 0.3 });
      assert.ok(samples.length > 0 && samples.every(Number.isFinite));
      read++;
    } catch (error) {
      if (!(error instanceof GgmlError)) throw error;
      assert.ok(error.message.length > 20);
      refusals++;
    }
  }
  assert.equal(read + refusals, mutations);
  assert.ok(read > mutations / 10 && refusals > mutations / 10, `${read} read, ${refusals} refused`);
});
