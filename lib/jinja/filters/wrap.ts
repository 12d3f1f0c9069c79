/** The pieces that a line is broken between: words, with the white space between them, and the parts of words with hyphens. */
function pieces(text: string, onHyphens: boolean): string[] {
  const parts = text.split(/([\t\n\v\f\r ]+)/).filter((part) => part !== "");
  if (!onHyphens) return parts;
  return parts.flatMap((part) =>
    /^[\t\n\v\f\r ]/.test(part) ? [part] : part.split(/(?<=[\p{L}_]{2}-)(?=[\p{L}_]{2})/u)
  );
}

/** Breaks a text into lines of a width at most. */
export function wrapText(text: string, width: number, breakLong: boolean, onHyphens: boolean): string[] {
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
      const room = Math.max(1, width - length);
      if (breakLong) {
        line.push(next.slice(0, room));
        left[left.length - 1] = next.slice(room);
      } else if (line.length === 0) line.push(left.pop() ?? "");
    }
    if (/^\s*$/.test(line.at(-1) ?? "x")) line.pop();
    if (line.length > 0) lines.push(line.join(""));
  }
  return lines;
}
