import { notFirst } from "../gguf/split_files.ts";

const PART = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** The number of a part, from 1, how many there are, and what their names begin with. */
export interface PartName {
  readonly prefix: string;
  readonly number: number;
  readonly count: number;
}

/** Reads the name of one file of a model in several files; `undefined` for another name. */
export function partName(name: string): PartName | undefined {
  const [, prefix, number, count] = PART.exec(name) ?? [];
  if (prefix === undefined) return undefined;
  return { prefix, number: Number(number), count: Number(count) };
}

/** The name of another part. */
export function nameOfPart({ prefix, count }: PartName, number: number): string {
  const digits = (value: number): string => String(value).padStart(5, "0");
  return `${prefix}-${digits(number)}-of-${digits(count)}.gguf`;
}

/** Returns the names of all files of a model, given the first one. Throws ModelPartError for another part. */
export function allParts(name: string): string[] {
  const part = partName(name);
  if (part === undefined) return [name];
  if (part.number !== 1) throw notFirst(name, part.number, part.count, nameOfPart(part, 1));
  return Array.from({ length: part.count }, (_, index) => nameOfPart(part, index + 1));
}
