/**
 * Reading audio that isn't WAV through the program ffmpeg.
 *
 * @module
 */

import { messageOf } from "../../../base/error.ts";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { rethrowDenied } from "../../../base/permission.ts";
import type { ByteReader } from "./byte_reader.ts";
import { FfmpegError } from "./errors.ts";

/** Characters of ffmpeg's own words that are kept for a message. */
const MAX_WORDS = 2_000;

/**
 * The audio of a file or a stream as ffmpeg decodes it: the bytes of a WAV file of 32-bit floats, at the audio's own rate and channels. ffmpeg runs until the
 * last byte is taken, and is ended when the loop is left. `why` says in messages why it is asked.
 *
 * Throws {@linkcode FfmpegError} when it isn't there or refuses the audio, PermissionError when the runtime doesn't let it be run.
 */
export async function* decodeByFfmpeg(
  program: string,
  reader: ByteReader,
  why: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  await using file = reader.path === undefined ? await spool(reader) : undefined;
  const path = file?.path ?? reader.path;
  const child = start(program, path, why);
  const kill = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", kill, { once: true });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => words = (words + text).slice(-MAX_WORDS));
  const ended = new Promise<number | string>((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => done(code ?? signal ?? "ended"));
  });
  // It is looked at later, when the bytes are all read.
  ended.catch(() => undefined);
  let failed: unknown;
  const fed = reader.path === undefined
    ? feed(reader, child.stdin).catch((error: unknown) => failed = error)
    : undefined;
  let whole = false;
  try {
    yield* output(child, () => ended.catch((cause: unknown) => refuse(program, cause, why)));
    const code = await ended.catch((cause: unknown) => refuse(program, cause, why));
    signal?.throwIfAborted();
    await fed;
    if (failed !== undefined) throw failed;
    if (code !== 0) throw refused(why, code, words);
    whole = true;
  } finally {
    signal?.removeEventListener("abort", kill);
    if (!whole) kill();
  }
}

/** A file that is taken away when it is disposed. */
interface TemporaryFile extends AsyncDisposable {
  readonly path: string;
}

/** MP4 mostly has its directory at the end, so that ffmpeg can't read it from a pipe: its bytes go to a file where that is possible. */
async function spool(reader: ByteReader): Promise<TemporaryFile | undefined> {
  const start = await reader.peek(8);
  if (reader.size === undefined || String.fromCharCode(...start.subarray(4)) !== "ftyp") return undefined;
  // Without the permission to write it is tried through the pipe.
  const folder = await mkdtemp(join(tmpdir(), "ggml-ffi-")).catch(() => undefined);
  if (folder === undefined) return undefined;
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "audio.mp4");
    await writeFile(path, reader.rest());
    return { path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Yields the program's output. When it couldn't be started, its output breaks off before anybody says so: then that is the error. */
async function* output(child: Child, whyEnded: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = child.stdout[Symbol.asyncIterator]();
  while (true) {
    const next = await pieces.next().catch(async (error: unknown) => {
      child.kill("SIGKILL");
      await whyEnded();
      throw error;
    });
    if (next.done === true) return;
    yield next.value;
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function start(program: string, path: string | undefined, why: string): Child {
  const input = path === undefined ? "pipe:0" : `file:${resolve(path)}`;
  const args = [
    ...["-nostdin", "-hide_banner", "-loglevel", "error"],
    // A playlist must not reach for addresses.
    ...["-protocol_whitelist", "file,pipe", "-i", input],
    ...["-map", "0:a:0", "-c:a", "pcm_f32le", "-bitexact", "-f", "wav", "pipe:1"],
  ];
  try {
    const child: Child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    // It may not need all of its input.
    child.stdin.on("error", () => undefined);
    if (path !== undefined) child.stdin.end();
    return child;
  } catch (cause) {
    return refuse(program, cause, why);
  }
}

/** Gives ffmpeg what is left of a stream. An error of the stream itself counts, one of the pipe doesn't: ffmpeg may have read enough. */
async function feed(reader: ByteReader, into: Writable): Promise<void> {
  let failed: unknown;
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* reader.rest();
    } catch (error) {
      failed = error;
      throw error;
    }
  };
  await pipeline(Readable.from(pieces(), { objectMode: true }), into).catch(() => undefined);
  if (failed !== undefined) throw failed;
}

function refuse(program: string, cause: unknown, why: string): never {
  rethrowDenied(cause, `running ${program}, which reads audio that isn't WAV,`, `--allow-run=${program}`);
  const missing = (cause as { code?: unknown }).code === "ENOENT";
  const what = missing ? "isn't there" : `can't be run (${messageOf(cause)})`;
  throw new FfmpegError(`${why}; ${program}, which could read it, ${what}: install ffmpeg, or give WAV`, {
    value: program,
    expected: "the program ffmpeg",
    cause,
  });
}

function refused(why: string, code: number | string, words: string): FfmpegError {
  const said = words.trim().split("\n").map((line) => line.replace(/^\[[^\]]*\] /, "")).slice(0, 2).join("; ");
  return new FfmpegError(
    `${why}; ffmpeg can't read it either (${
      said === "" ? `it ended with ${code}` : said
    }); give audio that it knows, or WAV`,
    { value: said === "" ? code : said, expected: "audio that ffmpeg can read" },
  );
}
