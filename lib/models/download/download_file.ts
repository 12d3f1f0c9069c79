/**
 * Downloads one file: in parallel segments, continued where an earlier download ended, checked, and put in place whole.
 *
 * @module
 */

import { rename, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { ModelHashError } from "../../errors.ts";
import { sleep } from "../../support/sleep.ts";
import { checkSpace } from "../cache/disk_space.ts";
import { sha256OfFile } from "../cache/hash.ts";
import { syncFile, syncFolder } from "../cache/sync.ts";
import { refuseOtherKinds } from "./content.ts";
import { ChangedError, downloadError, RetryableError, shownUrl } from "./errors.ts";
import { PartFile, partPath, removePart } from "./part_file.ts";
import type { DownloadProgress } from "../../support/download_options.ts";
import { ProgressMeter } from "./progress.ts";
import { checkSame, placeOf, type RemoteFile, remoteFile } from "./remote_file.ts";
import { type Answer, readPiece, request, type RequestSettings } from "./request.ts";

/** How files are downloaded. */
export interface DownloadSettings extends RequestSettings {
  /** How many segments are fetched at once. */
  readonly connections: number;
  /** Called with the progress; what it throws ends the download. */
  readonly onProgress: ((progress: DownloadProgress) => void) | undefined;
  /** Milliseconds before the second attempt; each later one waits twice as long. */
  readonly retryDelayMs: number;
}

/** What a download is to give. */
export interface DownloadGoal {
  /** Where the file is. */
  readonly url: URL;
  /** Where it is put; temporary files lie beside it. */
  readonly path: string;
  /** Its SHA-256 in hex, if known. */
  readonly sha256: string | undefined;
  /** Its size, if known. */
  readonly bytes: number | undefined;
}

/** A file that is there. */
export interface DownloadedFile {
  readonly bytes: number;
  readonly sha256: string;
  readonly tag: string | null;
}

/** Attempts without a byte of progress. */
const MAX_ATTEMPTS = 5;
/** Starts from the beginning: the file changed meanwhile, or was damaged. */
const MAX_STARTS = 3;
const MAX_WAIT_MS = 60_000;
/** The size of the first request: it tells all about the file. */
const FIRST_BYTES = 1 << 18;

/**
 * Downloads a file. Only one process at a time may do so for one path.
 *
 * Throws {@linkcode ModelDownloadError}, {@linkcode ModelHashError}, ModelCacheError, PermissionError, and the signal's reason.
 */
export async function downloadFile(goal: DownloadGoal, settings: DownloadSettings): Promise<DownloadedFile> {
  let failure: unknown;
  for (let start = 0; start < MAX_STARTS; start++) {
    try {
      const remote = await fetchAll(goal, settings);
      return await settle(goal, remote, settings);
    } catch (error) {
      if (error instanceof ChangedError) failure = changed(goal.url, error);
      else if (error instanceof ModelHashError) failure = error;
      else throw error instanceof RetryableError ? error.shown : error;
      await removePart(goal.path);
    }
  }
  throw failure;
}

function changed(url: URL, error: ChangedError): unknown {
  return downloadError(url, `the file on the server changed ${MAX_STARTS} times meanwhile`, {
    value: error.message,
    expected: "one file",
  });
}

/** Brings all bytes into the temporary file. */
async function fetchAll(goal: DownloadGoal, settings: DownloadSettings): Promise<RemoteFile> {
  const resumed = await PartFile.resume(goal.path, goal.sha256);
  if (resumed !== undefined) return await fetchSegments(goal, resumed, settings, undefined);
  const { remote, answer } = await withAttempts(settings, () => firstAnswer(goal, settings));
  try {
    await checkSpace(dirname(goal.path), remote.size);
    return await fetchSegments(goal, await PartFile.create(goal.path, remote), settings, answer);
  } finally {
    answer.body.cancel().catch(() => {});
  }
}

async function firstAnswer(
  { url, bytes }: DownloadGoal,
  settings: DownloadSettings,
): Promise<{ remote: RemoteFile; answer: Answer }> {
  for (const range of [`bytes=0-${FIRST_BYTES - 1}`, undefined]) {
    const answer = await orChanged(request(url, range, settings));
    if (answer === undefined) continue;
    try {
      const remote = remoteFile(url, answer);
      if (remote !== undefined) {
        if (bytes !== undefined && bytes !== remote.size) throw otherSize(url, bytes, remote.size);
        return { remote, answer };
      }
    } catch (error) {
      answer.body.cancel().catch(() => {});
      throw error;
    }
    answer.body.cancel().catch(() => {});
  }
  throw downloadError(url, "the server doesn't say how long it is", {
    value: undefined,
    expected: "a content-length",
    cure: "give another address, or download it by other means and give its path",
  });
}

/** A server has no first bytes of an empty file. */
async function orChanged(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ChangedError) return undefined;
    throw error;
  }
}

function otherSize(url: URL, expected: number, size: number): unknown {
  return downloadError(url, `it has ${size} bytes instead of ${expected}`, {
    value: size,
    expected: `${expected} bytes`,
    cure: "it is another file than the one that is wanted: check the address",
  });
}

async function fetchSegments(
  goal: DownloadGoal,
  part: PartFile,
  settings: DownloadSettings,
  first: Answer | undefined,
): Promise<RemoteFile> {
  await using file = part;
  const meter = new ProgressMeter(basename(goal.path), file.receivedBytes, file.remote.size, settings.onProgress);
  const stop = new AbortController();
  const signal = settings.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, settings.signal]);
  const own = { ...settings, signal };
  const queue = file.missing();
  let answer = first;
  const work = async (): Promise<void> => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      const given = index === 0 ? answer : undefined;
      if (index === 0) answer = undefined;
      await fetchSegment(goal.url, file, index, meter, own, given);
    }
  };
  const workers = Array.from({ length: Math.min(settings.connections, queue.length) }, work);
  try {
    await Promise.all(workers);
  } catch (error) {
    // The others end before the file is closed.
    stop.abort(error);
    await Promise.allSettled(workers);
    throw error;
  }
  return file.remote;
}

/** Fetches one segment, with as many attempts as make progress. */
async function fetchSegment(
  url: URL,
  file: PartFile,
  index: number,
  meter: ProgressMeter,
  settings: DownloadSettings,
  first: Answer | undefined,
): Promise<void> {
  const { start, end } = file.segment(index);
  let position = start;
  let given = first;
  const once = async (): Promise<void> => {
    const answer = given ?? await request(url, rangeOf(file, position, end), settings);
    // The first answer may have less than a segment.
    const isWhole = given === undefined || !file.remote.ranges;
    given = undefined;
    try {
      checkSame(url, file.remote, answer);
      let at = placeOf(url, answer).start;
      if (at > position || (at > 0 && at !== position)) throw otherPart(url, at, position);
      while (position < end) {
        const piece = await readPiece(url, answer.body, settings);
        if (piece === undefined && !isWhole && position > start) return;
        if (piece === undefined) throw cut(url, position, end);
        const wanted = piece.subarray(Math.min(piece.length, position - at), Math.max(0, end - at));
        at += piece.length;
        await file.write(wanted, position);
        position += wanted.length;
        meter.add(wanted.length);
      }
    } finally {
      answer.body.cancel().catch(() => {});
    }
  };
  let before = position;
  const gained = (): boolean => before !== (before = position);
  while (position < end) await withAttempts(settings, once, gained);
  await file.finish(index);
}

function rangeOf(file: PartFile, position: number, end: number): string | undefined {
  return file.remote.ranges ? `bytes=${position}-${end - 1}` : undefined;
}

function otherPart(url: URL, start: number, position: number): RetryableError {
  return new RetryableError(
    downloadError(url, `the server gives byte ${start} on, where byte ${position} on was asked for`, {
      value: start,
      expected: `a part from byte ${position}`,
    }),
  );
}

function cut(url: URL, position: number, end: number): RetryableError {
  return new RetryableError(
    downloadError(url, `the connection ended at byte ${position} of ${end}`, {
      value: position,
      expected: `${end} bytes`,
      cure: "run it again, which continues it",
    }),
  );
}

/**
 * Runs work until it succeeds, fails for good, or fails too often.
 *
 * @param gained whether there was progress since it was last asked: then attempts are counted anew.
 */
async function withAttempts<T>(
  settings: DownloadSettings,
  work: () => Promise<T>,
  gained: () => boolean = () => false,
): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (error) {
      settings.signal?.throwIfAborted();
      if (!(error instanceof RetryableError)) throw error;
      if (gained()) attempt = 1;
      if (attempt >= MAX_ATTEMPTS) throw error;
      const wait = Math.max(settings.retryDelayMs * 2 ** (attempt - 1), error.waitMs ?? 0);
      await sleep(Math.min(MAX_WAIT_MS, wait), settings.signal);
    }
  }
}

/** Checks the temporary file, puts it on the disk and gives it its name. */
async function settle(goal: DownloadGoal, remote: RemoteFile, settings: DownloadSettings): Promise<DownloadedFile> {
  const part = partPath(goal.path);
  await refuseOtherKinds(goal.url, part, () => removePart(goal.path));
  const sha256 = await sha256OfFile(part, settings.signal);
  const expected = goal.sha256 ?? remote.sha256 ?? sha256;
  if (sha256 !== expected) {
    throw new ModelHashError(
      `${
        shownUrl(goal.url)
      } came with the SHA-256 ${sha256} instead of ${expected}; it is another file, or was damaged on the way`,
      { value: sha256, expected },
    );
  }
  await syncFile(part);
  await rename(part, goal.path);
  await syncFolder(dirname(goal.path));
  await removePart(goal.path);
  const { size } = await stat(goal.path);
  return { bytes: size, sha256, tag: remote.tag };
}
