import { InvalidArgumentError } from "../../errors.ts";
import { checkOptions, show } from "../../support/check.ts";
import type { SamplingOptions } from "./options.ts";
import type { SamplerCandidates } from "./candidates.ts";
import { checkSome } from "./grammar.ts";

/** The samplers of llama.cpp, by the names that {@linkcode SamplingOptions.samplers} takes. */
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

/** A sampler of one's own, called on the thread that asked for the text: one hop a token. It must not be async. */
export type SamplerFunction = (candidates: SamplerCandidates) => void;

/** A sampler of one's own in a module that the native thread imports: no hop. */
export interface ModuleSampler {
  /** The module, as an absolute URL: `new URL("./sampler.ts", import.meta.url)`. */
  readonly module: string | URL;
  /** Which of its exports: a function that is given the options once a generation and gives a {@linkcode SamplerFunction}. Default `"default"`. */
  readonly export?: string | undefined;
  /** What that function is given: anything that can be sent to another thread. */
  readonly options?: unknown;
}

/** One checked sampler of the chain. A function stays behind; what travels is its place. */
export type OrderSettings =
  | { readonly kind: "name"; readonly name: SamplerName }
  | { readonly kind: "function"; readonly index: number }
  | { readonly kind: "module"; readonly url: string; readonly name: string; readonly options: unknown };

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
const MAX_SAMPLERS = 64;

/** Which options belong to which sampler. */
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

/** The functions among the samplers, in order. */
export function samplerFunctions(options: SamplingOptions): readonly SamplerFunction[] {
  return Array.isArray(options.samplers) ? options.samplers.filter((one) => typeof one === "function") : [];
}

/** Checks `samplers`. Throws {@linkcode InvalidArgumentError}. */
export function checkOrder(options: SamplingOptions): readonly OrderSettings[] {
  const adaptive = options.adaptiveTarget !== undefined;
  const given: unknown = options.samplers ?? (adaptive ? [...usualOrder, "adaptiveP"] : usualOrder);
  if (!Array.isArray(given) || given.length > MAX_SAMPLERS) {
    throw new InvalidArgumentError(`samplers is ${show(given)}; give an array of at most ${MAX_SAMPLERS}`, {
      value: given,
      expected: `an array of at most ${MAX_SAMPLERS} names, functions and modules`,
    });
  }
  let functions = 0;
  const order = given.map((one: unknown, index): OrderSettings => {
    if (typeof one === "function") return { kind: "function", index: functions++ };
    return typeof one === "string" ? named(one, index) : moduleSampler(one as ModuleSampler, index);
  });
  checkNames(order, options);
  return order;
}

function named(given: string, index: number): OrderSettings {
  const name = names.find((one) => one === given);
  if (name !== undefined) return { kind: "name", name };
  throw new InvalidArgumentError(
    `samplers[${index}] is ${show(given)}; give one of ${names.join(", ")}, a function or a module`,
    {
      value: given,
      expected: names.join(", "),
    },
  );
}

function moduleSampler(given: ModuleSampler, index: number): OrderSettings {
  const where = `samplers[${index}]`;
  const { module, export: name = "default", options } = checkOptions(where, given, ["module", "export", "options"]);
  const url = module instanceof URL ? module.href : checkSome(`${where}.module`, module);
  if (!URL.canParse(url)) {
    throw new InvalidArgumentError(
      `${where}.module is ${show(url)}; give an absolute URL: new URL("./sampler.ts", import.meta.url)`,
      {
        value: url,
        expected: "an absolute URL",
      },
    );
  }
  try {
    return { kind: "module", url, name: checkSome(`${where}.export`, name), options: structuredClone(options) };
  } catch (cause) {
    if (cause instanceof InvalidArgumentError) throw cause;
    throw new InvalidArgumentError(`${where}.options can't be sent to the native thread; give plain data`, {
      value: options,
      expected: "plain data",
      cause,
    });
  }
}

/** Each name once, the last one last, and no option of a sampler that isn't there. */
function checkNames(order: readonly OrderSettings[], options: SamplingOptions): void {
  const listed = order.flatMap((one) => one.kind === "name" ? [one.name] : []);
  const refuse = (message: string, value: unknown, expected: string): never => {
    throw new InvalidArgumentError(message, { value, expected });
  };
  for (const [index, name] of listed.entries()) {
    if (listed.indexOf(name) !== index) refuse(`samplers has ${name} twice; give it once`, name, "each name once");
    for (const option of name === "adaptiveP" && options.adaptiveTarget === undefined ? ["adaptiveTarget"] : []) {
      refuse(
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
    refuse("adaptiveP makes the choice, so it must be the last of the samplers", "adaptiveP", "adaptiveP as the last");
  }
  const infill = listed.indexOf("infill");
  if (infill >= 0 && (!listed.slice(0, infill).includes("topK") || options.topK === 0 || (options.topK ?? 0) > 1000)) {
    refuse(
      "infill compares each token with each, so topK must come before it, with 1 to 1000",
      options.topK,
      "topK before infill",
    );
  }
  if ((options.mirostat ?? 0) !== 0 && (options.samplers !== undefined || options.adaptiveTarget !== undefined)) {
    refuse(
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
      refuse(
        `${option} is given, but samplers has no ${name}; add it, or leave ${option} out`,
        options[option],
        `samplers with ${name}`,
      );
    }
  }
}
