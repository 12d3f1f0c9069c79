import { InvalidArgumentError } from "../../errors.ts";
import { checkArray, checkText } from "../../../base/check.ts";
import { boolean, custom, integer, options, type RulesOf, type Settings, signal } from "../../../base/options.ts";
import { checkLora, LORA_WORDS, type LoraOption } from "../adapters/lora.ts";
import type { LateGrammar } from "../sampling/late_grammar.ts";
import {
  type GrammarOptions,
  grammarRules,
  type GrammarSettings,
  grammarSettings,
  longGrammar,
} from "../sampling/grammar.ts";
import { type SamplingOptions, samplingRules, type SamplingSettings, samplingSettings } from "../sampling/options.ts";
import type { SamplerFunction } from "../sampling/order.ts";
import type { AnswerMarks } from "../thread/protocol.ts";

/** Options of every generation. */
export interface GenerationOptions extends SamplingOptions, GrammarOptions {
  /** The maximum number of generated tokens. 1 to 2,147,483,647, default until the context is full. */
  maxTokens?: number | undefined;
  /** Strings that end the generation, also across token boundaries; they aren't part of the result. One string or up to 64, none empty. Default none. */
  stop?: string | readonly string[] | undefined;
  /** LoRA adapters for this request, each by `model.loadLora`: one, one with its scale, or several. Default none. C: `llama_set_adapters_lora`. */
  lora?: LoraOption | undefined;
  /** Stops the generation, also within a decode; it then rejects with the signal's reason. C: `abort_callback`. */
  signal?: AbortSignal | undefined;
}

/** Options of `model.complete`. */
export interface CompletionOptions extends GenerationOptions {
  /** Read the text of control tokens in the prompt, such as `<|im_start|>`, as those tokens. Default true. C: `parse_special`. */
  parseSpecial?: boolean | undefined;
  /**
   * Token healing: removes the last token of the prompt and constrains the first generated token to begin with its text, so that a prompt may end inside
   * a word or with a space. The result's text doesn't repeat the prompt's end; its first token includes it. Can't be used with a grammar. Default false.
   */
  tokenHealing?: boolean | undefined;
}

const MAX_STOPS = 64;

/** {@linkcode GenerationOptions}, declared. */
export const generationRules = {
  ...samplingRules,
  ...grammarRules,
  maxTokens: integer({ min: 1, max: 0x7fff_ffff }),
  stop: custom(`a string or an array of at most ${MAX_STOPS} strings, none empty`, checkStops, { default: [] }),
  lora: custom(LORA_WORDS, checkLora, { default: [] }),
  signal: signal(),
} as const satisfies RulesOf<GenerationOptions>;

/** {@linkcode CompletionOptions}, declared. */
export const completionRules = {
  ...generationRules,
  parseSpecial: boolean({ default: true }),
  tokenHealing: boolean({ default: false }),
} as const satisfies RulesOf<CompletionOptions>;

const completionSpec = options("model.complete", completionRules);

type CheckedGeneration = Settings<typeof generationRules>;
type CheckedCompletion = Settings<typeof completionRules>;

/** {@linkcode CompletionOptions}, checked and grouped. */
export interface GenerationSettings
  extends Pick<CheckedCompletion, "maxTokens" | "stop" | "lora" | "signal" | "parseSpecial" | "tokenHealing"> {
  /** The options of the samplers. */
  sampling: SamplingSettings;
  /** The samplers that stay on the caller's thread. */
  samplerFunctions: readonly SamplerFunction[];
  /** The grammar that constrains the text. */
  grammar: GrammarSettings | undefined;
  /** A grammar in its place that takes long to make or to check. */
  lateGrammar: LateGrammar | undefined;
  /** The marks of an answer's form; `undefined` for plain text. */
  marks: AnswerMarks | undefined;
}

/** Checks the options of `model.complete`. Throws {@linkcode InvalidArgumentError}. */
export function checkCompletion(where: string, given: CompletionOptions | undefined): GenerationSettings {
  return generationSettings(completionSpec.check(given, where), given);
}

/**
 * Checks combinations of options that are valid on their own. Throws {@linkcode InvalidArgumentError}.
 *
 * @param checked The options with their defaults.
 * @param given The options as they were given: a default conflicts with nothing.
 */
export function generationSettings(
  checked: CheckedGeneration & Partial<CheckedCompletion>,
  given: CompletionOptions | undefined,
): GenerationSettings {
  const { grammar, grammarRoot, grammarTriggers, ...others } = checked;
  const { maxTokens, stop, lora, signal, parseSpecial = true, tokenHealing = false, ...sampling } = others;
  if (tokenHealing && grammar !== undefined) {
    throw new InvalidArgumentError("tokenHealing can't be used with a grammar, which doesn't know the prompt's end", {
      value: tokenHealing,
      expected: "tokenHealing or grammar",
    });
  }
  const long = longGrammar({ grammar, grammarRoot, grammarTriggers });
  const { sampling: settings, functions } = samplingSettings(sampling, given ?? {});
  return {
    sampling: settings,
    samplerFunctions: functions,
    grammar: long === undefined ? grammarSettings({ grammar, grammarRoot, grammarTriggers }) : undefined,
    lateGrammar: long,
    marks: undefined,
    maxTokens,
    stop,
    lora,
    signal,
    parseSpecial,
    tokenHealing,
  };
}

function checkStops(name: string, value: unknown): readonly string[] {
  return typeof value === "string"
    ? [checkStop(name, value)]
    : checkArray(name, value, checkStop, { min: 0, max: MAX_STOPS });
}

function checkStop(name: string, value: unknown): string {
  const text = checkText(name, value);
  if (text !== "") return text;
  throw new InvalidArgumentError(`${name} is empty, which would end every generation at once; leave it out`, {
    value,
    expected: "a string that isn't empty",
  });
}
