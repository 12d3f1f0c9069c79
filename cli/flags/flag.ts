import type { Option } from "../../base/options.ts";

/** One flag of a subcommand. */
export interface Flag {
  /** The long name, without dashes. */
  readonly name: string;
  /** The one-letter name, without the dash. */
  readonly short?: string;
  /** Other spellings, with their dashes: `-ngl`, `--predict`. */
  readonly also?: readonly string[];
  /** The kind of value that follows the flag; a flag without it is a switch. */
  readonly takes?: "text" | "integer" | "number";
  /** Name of the value in the help, such as `FILE`. */
  readonly placeholder?: string;
  /** May be given more than once. */
  readonly many?: boolean;
  /** The smallest value allowed. */
  readonly min?: number;
  /** The largest value allowed. */
  readonly max?: number;
  /** The default as the help shows it. */
  readonly default?: string;
  /** The library's option that it sets, as errors name it. */
  readonly option?: string;
  /** The heading that the help lists it under. Default "Options". */
  readonly group?: string;
  /** One sentence for the help, without the default. */
  readonly help: string;
}

/** A flag that sets an option which is a number: its range and its default are the option's own. */
export type OptionFlag<N extends string = string> = Flag & { readonly option: N };

/** Declares a flag by the option that it sets: kind, range and default are that one's. */
export function optionFlag<N extends string>(
  option: N,
  rules: Readonly<Record<N, Option<unknown>>>,
  flag: Omit<Flag, "takes" | "min" | "max" | "option">,
): OptionFlag<N> {
  const { expected, min, max, default: value } = rules[option];
  const shown = flag.default ?? (typeof value === "number" ? String(value) : undefined);
  return {
    ...flag,
    takes: expected.startsWith("an integer") ? "integer" : "number",
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(shown === undefined ? {} : { default: shown }),
    option,
  };
}

/** Adds a heading to flags. */
export function grouped(group: string, flags: readonly Flag[]): Flag[] {
  return flags.map((flag) => ({ ...flag, group }));
}

/** Every way to write a flag, the short ones first. */
export function spellings(flag: Flag): string[] {
  const short = flag.short === undefined ? [] : [`-${flag.short}`];
  return [...short, ...flag.also ?? [], `--${flag.name}`];
}

/** Returns the name of a flag's value in the help. */
export function placeholder(flag: Flag): string {
  return flag.placeholder ?? (flag.takes === "text" ? "TEXT" : "N");
}

/** A message of the library in terms of the command line: options that a flag sets are named by it. Names that are words of the language too stay. */
export function inFlags(message: string, flags: readonly Flag[]): string {
  return flags.reduce((text, { option, name }) => {
    if (option === undefined || option === option.toLowerCase()) return text;
    return text.replaceAll(new RegExp(`(?<![\\w-])${option}(?:: (?:true|false))?(?![\\w-])`, "g"), `--${name}`);
  }, message);
}
