import { InvalidArgumentError } from "../../errors.ts";
import { checkNonEmptyText, checkOneOf, isInstance, refuse } from "../../../base/check.ts";
import { custom, options } from "../../../base/options.ts";
import type { CheckedSampling, SamplingOptions } from "./options.ts";
import type { SamplerCandidates } from "./candidates.ts";

/** The name of one of llama.cpp's samplers, for {@linkcode SamplingOptions.samplers}. */
export type SamplerName =
  | "penalties"
  | "dry"
  | "topNSigma"
  | "topK"
  | "typicalP"
  | "topP"
  | "minP"
  | "xtc"
  | "temperature"
  | "infill"
  | "adaptiveP";

/** A custom sampler, called on the caller's thread: one round trip per token. It must not be async. */
export type SamplerFunction = (candidates: SamplerCandidates) => void;

/** A custom sampler in a module that the native thread imports: no round trip. */
export interface ModuleSampler {
  /** The module, as an absolute URL: `new URL("./sampler.ts", import.meta.url)`. */
  readonly module: string | URL;
  /** The name of the export: a function that takes the options, once per generation, and returns a {@linkcode SamplerFunction}. Default `"default"`. */
  readonly export?: string | undefined;
  /** The argument of that function: anything that can be sent to another thread. */
  readonly options?: unknown;
}

/** One checked sampler of the chain, as the native thread gets it: a function stays on the caller's thread and is named by its index. */
export type OrderSettings =
  | { readonly kind: "name"; readonly name: SamplerName }
  | { readonly kind: "function"; readonly index: number }
  | { readonly kind: "module"; readonly url: string; readonly name: string; readonly options: unknown };

/** One checked element of `samplers`. */
export type ChosenSampler =
  | Exclude<OrderSettings, { readonly kind: "function" }>
  | { readonly kind: "function"; readonly call: SamplerFunction };

const usualOrder: readonly SamplerName[] = [
  "penalties",
  "dry",
  "topNSigma",
  "topK",
  "typicalP",
  "topP",
  "minP",
  "xtc",
  "temperature",
];
const names: readonly SamplerName[] = [...usualOrder, "infill", "adaptiveP"];
/** The maximum length of the list of samplers. */
export const MAX_SAMPLERS = 64;

/** The options of each sampler. */
const owners: Readonly<Record<SamplerName, readonly (keyof SamplingOptions)[]>> = {
  penalties: ["repeatPenalty", "frequencyPenalty", "presencePenalty", "penaltyLastN"],
  dry: ["dryMultiplier", "dryBase", "dryAllowedLength", "dryPenaltyLastN", "drySequenceBreakers"],
  topNSigma: ["topNSigma"],
  topK: ["topK"],
  typicalP: ["typicalP"],
  topP: ["topP"],
  minP: ["minP"],
  xtc: ["xtcProbability", "xtcThreshold"],
  temperature: ["temperature", "dynatempRange", "dynatempExponent"],
  infill: [],
  adaptiveP: ["adaptiveTarget", "adaptiveDecay"],
};

const moduleSpec = options("a module sampler", {
  module: custom("an absolute URL", checkModule, { required: true }),
  export: custom("the name of an export", checkNonEmptyText, { default: "default" }),
  options: custom("plain data", checkPlainData),
});

/** Checks one element of `samplers`. Throws {@linkcode InvalidArgumentError}. */
export function checkSampler(name: string, value: unknown): ChosenSampler {
  if (typeof value === "function") return { kind: "function", call: value as SamplerFunction };
  if (typeof value === "object" && value !== null) {
    const { module, export: member, options } = moduleSpec.checkAt(name, value);
    return { kind: "module", url: module, name: member, options };
  }
  return { kind: "name", name: checkOneOf(name, value, names) };
}

function checkModule(name: string, value: unknown): string {
  const url = isInstance(value, URL) ? value.href : checkNonEmptyText(name, value);
  if (URL.canParse(url)) return url;
  return refuse(name, url, 'an absolute URL, such as new URL("./sampler.ts", import.meta.url)');
}

function checkPlainData(name: string, value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch (cause) {
    throw new InvalidArgumentError(`${name} can't be sent to the native thread; expected plain data`, {
      value,
      expected: "plain data",
      cause,
    });
  }
}

/** Returns the chain of samplers, functions by their index, and the functions. Throws {@linkcode InvalidArgumentError} for options that conflict. */
export function samplerOrder(
  { samplers, adaptiveTarget }: CheckedSampling,
  given: SamplingOptions,
): { order: readonly OrderSettings[]; functions: readonly SamplerFunction[] } {
  const usual: readonly SamplerName[] = adaptiveTarget === undefined ? usualOrder : [...usualOrder, "adaptiveP"];
  const functions: SamplerFunction[] = [];
  const order = (samplers ?? usual.map((name) => ({ kind: "name", name }) as const)).map((one): OrderSettings =>
    one.kind === "function" ? { kind: "function", index: functions.push(one.call) - 1 } : one
  );
  checkNames(order, given);
  return { order, functions };
}

function conflict(message: string, value: unknown, expected: string): never {
  throw new InvalidArgumentError(message, { value, expected });
}

/** Checks that each name is there once, the last one last, and that no option is given of a sampler that isn't in the list. */
function checkNames(order: readonly OrderSettings[], options: SamplingOptions): void {
  const listed = order.flatMap((one) => one.kind === "name" ? [one.name] : []);
  for (const [index, name] of listed.entries()) {
    if (listed.indexOf(name) !== index) conflict(`samplers has ${name} twice; give it once`, name, "each name once");
    for (const option of name === "adaptiveP" && options.adaptiveTarget === undefined ? ["adaptiveTarget"] : []) {
      conflict(
        `samplers has ${name}, which needs ${option}; give it, or leave the sampler out`,
        name,
        `a value of ${option}`,
      );
    }
  }
  if (
    listed.includes("adaptiveP") &&
    order.at(-1) !== order.find((one) => one.kind === "name" && one.name === "adaptiveP")
  ) {
    conflict(
      "adaptiveP makes the choice, so it must be the last of the samplers",
      "adaptiveP",
      "adaptiveP as the last",
    );
  }
  const infill = listed.indexOf("infill");
  if (infill >= 0 && (!listed.slice(0, infill).includes("topK") || options.topK === 0 || (options.topK ?? 0) > 1000)) {
    conflict(
      "infill compares each token with each, so topK must come before it, with 1 to 1000",
      options.topK,
      "topK before infill",
    );
  }
  if ((options.mirostat ?? 0) !== 0 && (options.samplers !== undefined || options.adaptiveTarget !== undefined)) {
    conflict(
      "mirostat takes the place of the other samplers; leave out samplers and adaptiveTarget, or mirostat",
      options.mirostat,
      "mirostat alone",
    );
  }
  if (options.samplers === undefined) return;
  for (const name of names) {
    if (listed.includes(name)) continue;
    const option = owners[name].find((one) => options[one] !== undefined);
    if (option !== undefined) {
      conflict(
        `${option} is given, but samplers has no ${name}; add it, or leave ${option} out`,
        options[option],
        `samplers with ${name}`,
      );
    }
  }
}
