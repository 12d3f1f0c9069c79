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
