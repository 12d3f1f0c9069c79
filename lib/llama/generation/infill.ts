import { checkText } from "../../../base/check.ts";
import { arrayOf, oneOf, options, type RulesOf, type Settings, text } from "../../../base/options.ts";
import { type GenerationOptions, generationRules, type GenerationSettings, generationSettings } from "./options.ts";
import type { Prompt } from "../thread/protocol.ts";

/** A file of the repository, as context for the model. */
export interface InfillFile {
  /** Its name. */
  readonly name: string;
  /** Its content. */
  readonly text: string;
}

/** Options of the prompt of `model.infill`. */
export interface InfillPromptOptions {
  /** Other files of the same repository. Default none. C: `llama_vocab_fim_rep`, `llama_vocab_fim_sep`. */
  files?: readonly InfillFile[] | undefined;
  /** The name of the repository, used with {@linkcode InfillPromptOptions.files}. Default `"repository"`. */
  repository?: string | undefined;
  /** The name of the file that the model completes, used with {@linkcode InfillPromptOptions.files}. Default `"file"`. */
  file?: string | undefined;
  /** The order of prefix and suffix: most models were trained for `"psm"` (prefix, suffix, middle). Default `"psm"`. */
  order?: "psm" | "spm" | undefined;
}

/** Options of `model.infill`. */
export interface InfillOptions extends GenerationOptions, InfillPromptOptions {}

const MAX_FILES = 1000;

const fileSpec = options("a file", { name: text({ required: true }), text: text({ required: true }) });

const promptRules = {
  files: arrayOf((name, file): InfillFile => fileSpec.checkAt(name, file), { min: 0, max: MAX_FILES, default: [] }),
  repository: text({ default: "repository" }),
  file: text({ default: "file" }),
  order: oneOf(["psm", "spm"], { default: "psm" }),
} as const satisfies RulesOf<InfillPromptOptions>;

const promptSpec = options("model.infillTokens", promptRules);
const infillSpec = options(
  "model.infill",
  { ...generationRules, ...promptRules } as const satisfies RulesOf<InfillOptions>,
);

type InfillPrompt = Extract<Prompt, { kind: "infill" }>;

/** Checks the texts around the gap, and the options of `model.infill`. Throws {@linkcode InvalidArgumentError}. */
export function checkInfill(
  prefix: unknown,
  suffix: unknown,
  given: InfillOptions | undefined,
): { prompt: InfillPrompt; settings: GenerationSettings } {
  const { files, repository, file, order, ...generation } = infillSpec.check(given);
  return {
    prompt: infillPrompt(prefix, suffix, { files, repository, file, order }),
    settings: generationSettings(generation, given),
  };
}

/** Checks the texts around the gap, and the options of `model.infillTokens`. Throws {@linkcode InvalidArgumentError}. */
export function checkInfillPrompt(
  prefix: unknown,
  suffix: unknown,
  given: InfillPromptOptions | undefined,
): InfillPrompt {
  return infillPrompt(prefix, suffix, promptSpec.check(given));
}

function infillPrompt(prefix: unknown, suffix: unknown, settings: Settings<typeof promptRules>): InfillPrompt {
  return {
    kind: "infill",
    prefix: checkText("the prefix", prefix),
    suffix: checkText("the suffix", suffix),
    ...settings,
  };
}
