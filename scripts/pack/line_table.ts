import type { LineTable } from "../../base/stack.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Makes the table of a source map: of each line, where its first segment comes from. */
export function lineTable(sourceMap: string): LineTable {
  const { sources, mappings } = JSON.parse(sourceMap) as { sources: string[]; mappings: string };
  const runs: number[] = [];
  let [module, source] = [0, 0];
  let last = { line: 0, module: 0, source: 0 };
  mappings.split(";").forEach((segments, index) => {
    let first: { module: number; source: number } | undefined;
    for (const segment of segments.split(",")) {
      const [, modules, lines] = decode(segment);
      if (modules === undefined || lines === undefined) continue;
      module += modules;
      source += lines;
      first ??= { module, source: source + 1 };
    }
    if (first === undefined) return;
    const line = index + 1;
    if (first.module === last.module && first.source - last.source === line - last.line) return;
    runs.push(line - last.line, first.module - last.module, first.source - last.source);
    last = { line, ...first };
  });
  return { modules: sources, runs };
}

/** The numbers of a segment, in variable-length base 64. */
function decode(segment: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value |= (bits & 31) << shift;
    shift += 5;
    if ((bits & 32) !== 0) continue;
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
