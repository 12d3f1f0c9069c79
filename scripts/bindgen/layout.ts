/** The layout of one record as clang prints it. */
export interface Layout {
  /** `struct NAME`, `union NAME`, or its place `header.h:line:column` where it has no name. */
  readonly key: string;
  readonly size: number;
  readonly align: number;
  /** Offsets of the direct fields, in order. */
  readonly offsets: readonly number[];
  /** Whether a field is a bit field. */
  readonly bits: boolean;
}

/** Reads the output of `-fdump-record-layouts-complete`. */
export function parseLayouts(text: string): Map<string, Layout> {
  const layouts = new Map<string, Layout>();
  for (const block of text.split("*** Dumping AST Record Layout").slice(1)) {
    const layout = parseBlock(block.split("\n"));
    layouts.set(layout.key, layout);
  }
  return layouts;
}

function parseBlock(lines: readonly string[]): Layout {
  let key: string | undefined;
  const offsets: number[] = [];
  let bits = false;
  for (const line of lines) {
    const field = /^\s*(\d+)(:[\d-]+)? \|( +)(.*)$/.exec(line);
    if (field !== null) {
      const depth = (field[3]!.length - 1) / 2;
      if (depth === 0) key = recordKey(field[4]!);
      if (depth === 1) {
        offsets.push(Number(field[1]));
        if (field[2] !== undefined) bits = true;
      }
      continue;
    }
    const size = /\[sizeof=(\d+), align=(\d+)/.exec(line);
    if (size !== null && key !== undefined) {
      return { key, size: Number(size[1]), align: Number(size[2]), offsets, bits };
    }
  }
  throw new Error(`can't read a record layout: ${lines.join("\n")}`);
}

/** One name for a record, named or not, as printed in layouts and in types. */
export function recordKey(text: string): string {
  const place = /\((?:unnamed|anonymous)(?: struct| union)? at (?:.*[/\\])?([^/\\:]+:\d+:\d+)\)$/.exec(text);
  return place !== null ? place[1]! : text.replace(/^(struct|union) /, "");
}

/** The differences of two targets' layouts of the records in `keys`; empty if there are none. */
export function compareLayouts(
  a: ReadonlyMap<string, Layout>,
  b: ReadonlyMap<string, Layout>,
  keys: Iterable<string>,
): string[] {
  const differences: string[] = [];
  for (const key of keys) {
    const [one, other] = [JSON.stringify(a.get(key)), JSON.stringify(b.get(key))];
    if (one !== other || one === undefined) differences.push(`${key}: ${one} and ${other}`);
  }
  return differences;
}
