import { InvalidArgumentError } from "../../errors.ts";
import { checkBoolean, checkInteger, checkOptions, checkSignal, checkText, show } from "../../support/check.ts";
import { checkGrammar, grammarOptionNames, type GrammarOptions, type GrammarSettings } from "../sampling/grammar.ts";
import { type SamplerFunction, samplerFunctions } from "../sampling/order.ts";
import { checkLora, type LoraOption, type LoraSetting } from "../adapters/lora.ts";
import type { AnswerMarks } from "../thread/protocol.ts";
import {
  checkSampling,
  samplingOptionNames,
  type SamplingOptions,
  type SamplingSettings,
} from "../sampling/options.ts";

/** How text is generated. */
export interface GenerationOptions extends SamplingOptions, GrammarOptions {
  /** How many tokens to generate at most. 1 to 2,147,483,647, default until the context is full. */
  maxTokens?: number | undefined;
  /** Text that ends the generation, also across the borders of tokens; it isn't part of the result. A string or up to 64 of them, none empty. Default none. */
  stop?: string | readonly string[] | undefined;
  /** LoRA adapters that work in this request, each by `model.loadLora`: one, one with its scale, or several. Default none. C: `llama_set_adapters_lora`. */
  lora?: LoraOption | undefined;
  /** Stops the generation, also within a decode; it then rejects with the signal's reason. C: `abort_callback`. */
  signal?: AbortSignal | undefined;
}

/** How a prompt is gone on with. */
export interface CompletionOptions extends GenerationOptions {
  /** Read the text of control tokens in the prompt, such as `<|im_start|>`, as those tokens. Default true. C: `parse_special`. */
  parseSpecial?: boolean | undefined;
  /**
   * Take the last token of the prompt away and let the model begin with its text, so that a prompt that ends inside a word, or with a space, goes on as if it
   * didn't. The result's text is what comes behind the prompt; its first token holds the prompt's end too. Not with a grammar. Default false.
   */
  tokenHealing?: boolean | undefined;
}

/** Checked options of a generation. */
export interface GenerationSettings {
  /** How tokens are chosen. */
  sampling: SamplingSettings;
  /** The samplers that stay on the caller's thread. */
  samplerFunctions: readonly SamplerFunction[];
  /** What the text must be like. */
  grammar: GrammarSettings | undefined;
  /** What the form of an answer needs; `undefined` for plain text. */
  marks: AnswerMarks | undefined;
  /** See {@linkcode GenerationOptions.maxTokens}. */
  maxTokens: number | undefined;
  /** The stop strings. */
  stop: readonly string[];
  /** The adapters. */
  lora: readonly LoraSetting[];
  /** See {@linkcode GenerationOptions.signal}. */
  signal: AbortSignal | undefined;
  /** See {@linkcode CompletionOptions.parseSpecial}. */
  parseSpecial: boolean;
  /** See {@linkcode CompletionOptions.tokenHealing}. */
  tokenHealing: boolean;
}

/** The names of {@linkcode GenerationOptions}. */
export const generationNames = [
  ...samplingOptionNames,
  ...grammarOptionNames,
  "maxTokens",
  "stop",
  "lora",
  "signal",
] as const;
const completionNames = [...generationNames, "parseSpecial", "tokenHealing"] as const;
const MAX_STOPS = 64;

/** Checks the options of `chat.send`. Throws {@linkcode InvalidArgumentError}. */
export function checkGeneration(where: string, options: GenerationOptions | undefined): GenerationSettings {
  return settingsOf(checkOptions(where, options, generationNames));
}

/** Checks the options of `model.complete`. Throws {@linkcode InvalidArgumentError}. */
export function checkCompletion(where: string, options: CompletionOptions | undefined): GenerationSettings {
  return settingsOf(checkOptions(where, options, completionNames));
}

/** Checks options whose names are known to be right. Throws {@linkcode InvalidArgumentError}. */
export function settingsOf(options: CompletionOptions): GenerationSettings {
  const { parseSpecial = true, tokenHealing = false } = options;
  if (tokenHealing && options.grammar !== undefined) {
    throw new InvalidArgumentError(
      "tokenHealing is on, but the grammar doesn't know the end of the prompt; leave one of them out",
      {
        value: tokenHealing,
        expected: "tokenHealing or grammar",
      },
    );
  }
  return {
    sampling: checkSampling(options),
    samplerFunctions: samplerFunctions(options),
    grammar: checkGrammar(options),
    marks: undefined,
    maxTokens: options.maxTokens === undefined
      ? undefined
      : checkInteger("maxTokens", options.maxTokens, { min: 1, max: 0x7fff_ffff }),
    stop: checkStop(options.stop),
    lora: checkLora(options.lora),
    signal: options.signal === undefined ? undefined : checkSignal("signal", options.signal),
    parseSpecial: checkBoolean("parseSpecial", parseSpecial),
    tokenHealing: checkBoolean("tokenHealing", tokenHealing),
  };
}

function checkStop(stop: unknown): readonly string[] {
  if (stop === undefined) return [];
  const list: unknown = typeof stop === "string" ? [stop] : stop;
  if (!Array.isArray(list) || list.length > MAX_STOPS) {
    throw new InvalidArgumentError(`stop is ${show(stop)}; give a string or an array of at most ${MAX_STOPS} strings`, {
      value: stop,
      expected: `a string or at most ${MAX_STOPS} strings`,
    });
  }
  return list.map((one: unknown, index) => {
    const text = checkText(list.length === 1 ? "stop" : `stop[${index}]`, one);
    if (text !== "") return text;
    throw new InvalidArgumentError("a stop string is empty, which would end every generation at once; leave it out", {
      value: "",
      expected: "some text",
    });
  });
}
