import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { InvalidArgumentError } from "../../../lib/errors.ts";
import { AudioNotFoundError, decodeAudio, encodeWav, readAudio } from "../../../lib/whisper/audio/mod.ts";
import { refused, values, wav } from "./wav_samples.ts";

test("files, URLs, blobs, streams of any pieces", async () => {
  const folder = await mkdtemp(join(tmpdir(), "wav-"));
  try {
    const path = join(folder, "sound with spaces.wav");
    const file = wav("s16", values);
    await writeFile(path, file);
    const bytewise = async function* () {
      for (const byte of file) yield await Promise.resolve(Uint8Array.of(byte));
    };
    const sources = [
      path,
      pathToFileURL(path),
      pathToFileURL(path).href,
      file,
      file.buffer,
      new Blob([file]),
      bytewise(),
    ];
    for (const source of sources) assert.deepEqual([...await decodeAudio(source)], values);
    await refused(join(folder, "none.wav"), AudioNotFoundError, /there is no file .*none.wav; check the path/);
    await refused(folder, AudioNotFoundError, /is a folder/);
    await refused("https://example.org/a.wav", InvalidArgumentError, /isn't fetched/);
    await refused(new URL("https://example.org/a.wav"), InvalidArgumentError, /isn't fetched/);
    for (const wrong of [undefined, null, 5, {}, [], "", "a\0b", Symbol("a")]) {
      await refused(wrong as never, InvalidArgumentError, /give (a path|the path of a file)/);
    }
    const locked = new Blob([file]).stream();
    locked.getReader();
    await refused(locked, InvalidArgumentError, /is read by something else/);
    await refused(
      (async function* () {
        yield "text" as never;
      })(),
      InvalidArgumentError,
      /has "text" in it/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("an abort ends the reading, also of a stream that never goes on, and closes the stream", async () => {
  for (const file of [wav("s16", values), new Uint8Array(0)]) {
    const controller = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    const stream = new ReadableStream<Uint8Array>({
      start: (inner) => file.length > 0 ? inner.enqueue(file.subarray(0, 50)) : undefined,
      cancel: () => cancelled.resolve(),
    });
    const reading = decodeAudio(stream, { signal: controller.signal });
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 0);
    await assert.rejects(reading, (error) => error === reason);
    await cancelled.promise;
  }
  const reason = new Error("before");
  await assert.rejects(
    decodeAudio(wav("s16", values), { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
});

test("leaving the loop cancels the stream", async () => {
  const cancelled = Promise.withResolvers<void>();
  const file = wav("s16", Array<number>(40_000).fill(0.5), { dataSize: 0xffffffff });
  const stream = new ReadableStream<Uint8Array>({
    start: (inner) => inner.enqueue(file),
    cancel: () => cancelled.resolve(),
  });
  for await (const piece of readAudio(stream)) {
    assert.ok(piece.length > 0);
    break;
  }
  await cancelled.promise;
});

test("an error of the stream is the error of the reading", async () => {
  const reason = new Error("the line broke");
  const stream = new ReadableStream<Uint8Array>({ pull: (inner) => inner.error(reason) });
  await assert.rejects(decodeAudio(stream), (error) => error === reason);
});

test("hours of audio come in small pieces", async () => {
  // Two hours of a stream that is made as it is read.
  const seconds = 7_200;
  const second = new Uint8Array(Int16Array.from({ length: 16_000 }, (_, at) => at).buffer);
  const stream = async function* () {
    yield wav("s16", [], { dataSize: 0xffffffff });
    for (let at = 0; at < seconds; at++) yield await Promise.resolve(second);
  };
  let [length, longest] = [0, 0];
  for await (const piece of readAudio(stream())) {
    length += piece.length;
    longest = Math.max(longest, piece.length);
  }
  assert.equal(length, seconds * 16_000);
  assert.ok(longest <= 16_384, String(longest));
});

test("the event loop goes on while audio in memory is read", { timeout: 60_000 }, async () => {
  const file = encodeWav(new Float32Array(44_100 * 2 * 60), { sampleRate: 44_100, channels: 2 });
  let [turns, reading] = [0, true];
  const count = () => {
    turns++;
    if (reading) setImmediate(count);
  };
  setImmediate(count);
  assert.equal((await decodeAudio(file)).length, 16_000 * 60);
  reading = false;
  assert.ok(turns > 5, String(turns));
});
