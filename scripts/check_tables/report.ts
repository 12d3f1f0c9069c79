/** The result of a check: lines to print, and problems. */
export interface Report {
  readonly lines: string[];
  readonly problems: string[];
}

/** An empty report. */
export function newReport(): Report {
  return { lines: [], problems: [] };
}

/** Names in a row, folded to `width` and indented. */
export function fold(names: readonly string[], width = 140): string[] {
  const lines: string[] = [];
  let line = "";
  for (const name of names) {
    if (line !== "" && line.length + name.length + 1 > width) {
      lines.push(`      ${line}`);
      line = "";
    }
    line += line === "" ? name : ` ${name}`;
  }
  return line === "" ? lines : [...lines, `      ${line}`];
}
