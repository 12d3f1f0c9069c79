const SPACE = "[\\t\\n\\v\\f\\r ]";
const WORD = "[\\p{L}\\p{N}_]";
const LETTER = "[\\p{L}_]";
const PUNCTUATED = "[\\p{L}\\p{N}_!\"'&.,?]";

/** White space, a dash between words, or a word, as far as its hyphen. */
const piece = new RegExp(
  `${SPACE}+|(?<=${PUNCTUATED})-{2,}(?=${WORD})|[^\\t\\n\\v\\f\\r ]+?(?:-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})|(?=${SPACE}|$)|(?<=${PUNCTUATED})(?=-{2,}${WORD}))`,
  "gu",
);

/** The pieces that a line is broken between. */
function pieces(text: string, onHyphens: boolean): string[] {
  if (onHyphens) return text.match(piece) ?? [];
  return text.split(/([\t\n\v\f\r ]+)/).filter((part) => part !== "");
}

/** How much of a piece that is too long goes onto a line: up to a hyphen if there is one. */
function cutOf(text: string, room: number, onHyphens: boolean): number {
  const hyphen = onHyphens ? text.lastIndexOf("-", room - 1) : -1;
  return hyphen > 0 && /[^-]/.test(text.slice(0, hyphen)) ? hyphen + 1 : room;
}

/** Stands for a character of two units, so that each character is one. */
const ONE = "\ud800";

/** Breaks a text into lines of a width at most. */
export function wrapText(text: string, width: number, breakLong: boolean, onHyphens: boolean): string[] {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g);
  if (pairs === null) return wrapUnits(text, width, breakLong, onHyphens);
  let next = 0;
  const lines = wrapUnits(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ONE), width, breakLong, onHyphens);
  return lines.map((line) => line.replaceAll(ONE, () => pairs[next++] ?? ""));
}

function wrapUnits(text: string, width: number, breakLong: boolean, onHyphens: boolean): string[] {
  const left = pieces(text, onHyphens).reverse();
  const lines: string[] = [];
  while (left.length > 0) {
    if (lines.length > 0 && /^\s*$/.test(left.at(-1) ?? "")) left.pop();
    const line: string[] = [];
    let length = 0;
    while (left.length > 0 && length + (left.at(-1)?.length ?? 0) <= width) {
      const piece = left.pop() ?? "";
      line.push(piece);
      length += piece.length;
    }
    const next = left.at(-1);
    if (next !== undefined && next.length > width) {
      const room = width < 1 ? 1 : width - length;
      if (breakLong) {
        const cut = cutOf(next, room, onHyphens);
        line.push(next.slice(0, cut));
        left[left.length - 1] = next.slice(cut);
      } else if (line.length === 0) line.push(left.pop() ?? "");
    }
    if (/^\s*$/.test(line.at(-1) ?? "x")) line.pop();
    if (line.length > 0) lines.push(line.join(""));
  }
  return lines;
}
