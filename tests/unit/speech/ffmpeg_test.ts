import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import {
  AudioEmptyError,
  AudioFormatError,
  AudioTruncatedError,
  decodeAudio,
  encodeWav,
  FfmpegError,
} from "../../../lib/whisper/audio/mod.ts";
import { buildWav } from "./wav_builder.ts";

/** A stand-in for ffmpeg: what it is called with, and what it does, are the test's. */
let folder = "";
const here = { skip: process.platform === "win32" ? "a shell script stands for ffmpeg" : false };
const flac = new TextEncoder().encode("fLaC and the rest of the file");
const wav = encodeWav(Float32Array.of(0, 0.5, -1), { encoding: "f32" });

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "ffmpeg-"));
  await writeFile(join(folder, "out.wav"), wav);
  await writeFile(join(folder, "in put.flac"), flac);
});

after(() => rm(folder, { recursive: true }));

async function program(script: string): Promise<string> {
  const path = join(folder, `ffmpeg-${Math.random()}`);
  await writeFile(path, `#!/bin/sh\ncd '${folder}'\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

test("a file that isn't WAV goes through ffmpeg by its path", here, async () => {
  const ffmpeg = await program(`printf '%s\\n' "$@" > args; cat out.wav`);
  const path = join(folder, "in put.flac");
  assert.deepEqual([...await decodeAudio(path, { ffmpeg })], [0, 0.5, -1]);
  const args = (await readFile(join(folder, "args"), "utf8")).trimEnd().split("\n");
  assert.ok(args.includes(`file:${path}`));
  assert.equal(args[args.indexOf("-protocol_whitelist") + 1], "file,pipe");
  assert.equal(args.at(-1), "pipe:1");
});

test("a file that isn't WAV goes through ffmpeg byte by byte, from its start", here, async () => {
  const ffmpeg = await program("cat > got; cat out.wav");
  for (const source of [flac, new Blob([flac]), new Blob([flac]).stream()]) {
    assert.deepEqual([...await decodeAudio(source, { ffmpeg })], [0, 0.5, -1]);
    assert.deepEqual(new Uint8Array(await readFile(join(folder, "got"))), flac);
  }
  const adpcm = buildWav({ codec: 0x11, bits: 4, data: new Uint8Array(100) });
  assert.deepEqual([...await decodeAudio(new Blob([adpcm]).stream(), { ffmpeg })], [0, 0.5, -1]);
  assert.deepEqual(new Uint8Array(await readFile(join(folder, "got"))), adpcm);
});

test("MP4 in memory goes to ffmpeg as a file, which is taken away", here, async () => {
  const ffmpeg = await program(`printf '%s\\n' "$@" > args; cp "$(sed -n 's/^file://p' args)" got; cat out.wav`);
  const mp4 = new TextEncoder().encode("\0\0\0 ftypM4A and the rest of the file");
  for (const source of [mp4, new Blob([mp4])]) {
    assert.deepEqual([...await decodeAudio(source, { ffmpeg })], [0, 0.5, -1]);
    assert.deepEqual(new Uint8Array(await readFile(join(folder, "got"))), mp4);
    const args = await readFile(join(folder, "args"), "utf8");
    await assert.rejects(readFile(/^file:(.*)$/m.exec(args)?.[1] ?? ""), /ENOENT/);
  }
});

test("ffmpeg may stop reading before the end", here, async () => {
  const ffmpeg = await program("cat out.wav");
  const long = new Uint8Array(4 << 20);
  long.set(flac);
  assert.deepEqual([...await decodeAudio(long, { ffmpeg })], [0, 0.5, -1]);
});

test("ffmpeg's refusal is told in its own words", here, async () => {
  const ffmpeg = await program("echo 'Invalid data found' >&2; exit 3");
  await assert.rejects(decodeAudio(flac, { ffmpeg }), (error) => {
    assert.ok(error instanceof FfmpegError || error instanceof AudioEmptyError, String(error));
    assert.match(String(error), /it is FLAC; ffmpeg can't read it either \(Invalid data found\)/);
    return true;
  });
  const midway = await program("cat out.wav; echo 'broke off' >&2; exit 1");
  await assert.rejects(decodeAudio(flac, { ffmpeg: midway }), /broke off/);
  const silent = await program("exit 7");
  await assert.rejects(decodeAudio(flac, { ffmpeg: silent }), /it ended with 7/);
  const nothing = await program("exit 0");
  await assert.rejects(decodeAudio(flac, { ffmpeg: nothing }), AudioEmptyError);
});

test("no ffmpeg: the error says what to do", async () => {
  await assert.rejects(decodeAudio(flac, { ffmpeg: join(folder, "none") }), (error) => {
    assert.ok(error instanceof FfmpegError, String(error));
    assert.match(error.message, /it is FLAC; .*none, which could read it, isn't there: install ffmpeg, or give WAV/);
    return true;
  });
  await assert.rejects(decodeAudio(flac, { ffmpeg: false }), AudioFormatError);
});

test("WAV that is damaged isn't given to ffmpeg", async () => {
  const ffmpeg = join(folder, "none");
  await assert.rejects(decodeAudio(wav.subarray(0, 50), { ffmpeg }), AudioTruncatedError);
});

test("an abort ends ffmpeg, also one that never answers", here, async () => {
  const ffmpeg = await program("echo $$ > pid; exec sleep 1000");
  for (const source of [join(folder, "in put.flac"), flac, new ReadableStream({ start: (one) => one.enqueue(flac) })]) {
    const controller = new AbortController();
    const reading = decodeAudio(source, { ffmpeg, signal: controller.signal });
    reading.catch(() => undefined);
    const pid = await eventually(async () => Number(await readFile(join(folder, "pid"), "utf8")) || undefined);
    controller.abort(new Error("enough"));
    await assert.rejects(reading, /enough/);
    await eventually(() => Promise.resolve(runs(pid) ? undefined : true));
    await rm(join(folder, "pid"));
  }
});

test("an error of the stream is the error of the reading, and ends ffmpeg", here, async () => {
  const ffmpeg = await program("cat > /dev/null; exit 1");
  let given = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: (inner) => {
      if (given) inner.error(new Error("the line broke"));
      else inner.enqueue(flac);
      given = true;
    },
  });
  await assert.rejects(decodeAudio(stream, { ffmpeg }), /the line broke/);
});

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
