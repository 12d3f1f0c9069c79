import { parseArgs } from "node:util";
import { UsageError } from "../errors.ts";
import { editDistance } from "../../base/near_miss.ts";
import { type Flag, placeholder, spellings } from "./flag.ts";

/** The flags and arguments that were given, checked. */
export class Given {
  readonly #values = new Map<string, (string | number | true)[]>();
  /** Arguments without a flag. */
  readonly positionals: string[] = [];

  /** Notes one value of a flag. */
  add(name: string, value: string | number | true): void {
    this.#values.set(name, [...this.#values.get(name) ?? [], value]);
  }

  /** Whether the switch was given. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The last value of a flag that takes text. */
  text(name: string): string | undefined {
    const value = this.#values.get(name)?.at(-1);
    return typeof value === "string" ? value : undefined;
  }

  /** Every value of a flag that takes text and may be repeated. */
  texts(name: string): string[] {
    return (this.#values.get(name) ?? []).filter((value) => typeof value === "string");
  }

  /** The last value of a flag that takes a number. */
  number(name: string): number | undefined {
    const value = this.#values.get(name)?.at(-1);
    return typeof value === "number" ? value : undefined;
  }
}

/**
 * Reads a command line against a table of flags.
 *
 * @throws {UsageError} for an unknown flag (with the nearest known one), a missing value, a value that is not a number, or a number
 * out of range.
 */
export function parseFlags(args: readonly string[], flags: readonly Flag[]): Given {
  const given = new Given();
  const spelt = new Map<string, string>();
  const { tokens } = parseArgs({
    args: joinValues(args, flags, spelt),
    options: Object.fromEntries(flags.map((flag) => [flag.name, {
      type: flag.takes === undefined ? "boolean" as const : "string" as const,
      ...(flag.short === undefined ? {} : { short: flag.short }),
    }])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "positional") given.positionals.push(token.value);
    if (token.kind !== "option") continue;
    const flag = flags.find((flag) => flag.name === token.name);
    if (flag === undefined) throw unknownFlag(token.rawName, flags);
    const spelling = spelt.get(flag.name) ?? token.rawName;
    if (!flag.many && given.has(flag.name)) throw new UsageError(`${spelling} was given twice`);
    given.add(flag.name, checkValue(flag, spelling, token.value));
  }
  return given;
}

/**
 * Rewrites `-ngl 3` and `--temp -1` as `--gpu-layers=3` and `--temp=-1`, so that a value may start with a dash and a name
 * with one dash may have several letters. Notes in `spelt` how each was written.
 */
function joinValues(args: readonly string[], flags: readonly Flag[], spelt: Map<string, string>): string[] {
  const joined: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--") return [...joined, ...args.slice(at)];
    const equals = arg.startsWith("-") ? arg.indexOf("=", 2) : -1;
    const spelling = equals < 0 ? arg : arg.slice(0, equals);
    const flag = flags.find((flag) => spellings(flag).includes(spelling));
    if (flag !== undefined) spelt.set(flag.name, spelling);
    if (flag === undefined) {
      if (/^-[a-z]{2}/i.test(arg) && flags.some((flag) => spellings(flag).includes(`-${spelling}`))) {
        throw new UsageError(`there is no flag ${arg}; did you mean -${arg}?`);
      }
      joined.push(arg);
    } else if (equals >= 0) {
      joined.push(`--${flag.name}${arg.slice(equals)}`);
    } else if (flag.takes === undefined) {
      joined.push(`--${flag.name}`);
    } else {
      const value = args[++at];
      if (value === undefined) throw new UsageError(`${arg} needs a value: ${arg} ${placeholder(flag)}`);
      joined.push(`--${flag.name}=${value}`);
    }
  }
  return joined;
}

function checkValue(flag: Flag, spelling: string, value: string | undefined): string | number | true {
  if (flag.takes === undefined) {
    if (value !== undefined) {
      throw new UsageError(`${spelling} is a switch and takes no value, but was given "${value}"`);
    }
    return true;
  }
  if (value === undefined) throw new UsageError(`${spelling} needs a value: ${spelling} ${placeholder(flag)}`);
  if (flag.takes === "text") return value;
  const number = value.trim() === "" ? NaN : Number(value);
  const rightKind = flag.takes === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (!rightKind || !inRange(flag, number)) throw new UsageError(`${spelling} must be ${range(flag)}, not "${value}"`);
  return number;
}

function inRange(flag: Flag, number: number): boolean {
  return number >= (flag.min ?? -Infinity) && number <= (flag.max ?? Infinity);
}

function range(flag: Flag): string {
  const kind = flag.takes === "integer" ? "an integer" : "a number";
  if (flag.min === undefined) return flag.max === undefined ? kind : `${kind} up to ${flag.max}`;
  return flag.max === undefined ? `${kind} of at least ${flag.min}` : `${kind} from ${flag.min} to ${flag.max}`;
}

function unknownFlag(spelling: string, flags: readonly Flag[]): UsageError {
  const near = nearest(spelling, flags.flatMap(spellings));
  return new UsageError(`there is no flag ${spelling}${near === undefined ? "" : `; did you mean ${near}?`}`);
}

/** The known name that is closest to a mistyped one, if any is close. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const ranked = known.map((name) => ({ name, distance: editDistance(given, name) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(Math.min(given.length, name.length) / 3)))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.name;
}
