import { InvalidArgumentError } from "../../../base/errors.ts";
import { show } from "../../support/check.ts";
import type { Segment } from "../transcribe/segment.ts";

/** Whole milliseconds. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** Hours, minutes, seconds and milliseconds: `00:01:02,003`. */
export function clock(seconds: number, point: "," | "."): string {
  const ms = milliseconds(seconds);
  const [hours, minutes, rest] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, ms % 60_000];
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(rest / 1000))}${point}${String(rest % 1000).padStart(3, "0")}`;
}

/** Minutes, seconds and hundredths: `01:02.00`. */
export function shortClock(seconds: number): string {
  const ms = milliseconds(seconds);
  return `${two(Math.floor(ms / 60_000))}:${two(Math.floor(ms / 1000) % 60)}.${two(Math.floor(ms % 1000 / 10))}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** A text in one line: these formats end an entry at an empty line. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]+/g, " ");
}

/** Segments that can be written: texts, and times that aren't negative. Throws InvalidArgumentError. */
export function checkSegments(where: string, segments: Iterable<Segment>): readonly Segment[] {
  const iterable = typeof segments === "object" && segments !== null && Symbol.iterator in segments;
  if (!iterable) {
    throw new InvalidArgumentError(`${where} was given ${show(segments)}; give an array of segments`, {
      value: segments,
      expected: "an array of segments",
    });
  }
  const list = [...segments];
  for (const [index, segment] of list.entries()) {
    const { text, start, end } = (segment ?? {}) as Partial<Segment>;
    if (typeof text === "string" && isTime(start) && isTime(end)) continue;
    throw new InvalidArgumentError(
      `segment ${index} has the text ${show(text)} from ${show(start)} to ${
        show(end)
      }; give a text and times in seconds`,
      { value: segment, expected: "a text, a start and an end" },
    );
  }
  return list;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < 1e9;
}
