import { InvalidArgumentError } from "../../errors.ts";
import { checkOneOf, checkOptions, checkText, show } from "../../support/check.ts";
import { generationNames, type GenerationOptions, type GenerationSettings, settingsOf } from "./options.ts";
import type { Prompt } from "../thread/protocol.ts";

/** A file that the model is shown beside the one where it writes. */
export interface InfillFile {
  /** Its name. */
  readonly name: string;
  /** What is in it. */
  readonly text: string;
}

/** How the middle of a text is shown to the model. */
export interface InfillPromptOptions {
  /** Other files of the same repository. Default none. C: `llama_vocab_fim_rep`, `llama_vocab_fim_sep`. */
  files?: readonly InfillFile[] | undefined;
  /** The name of the repository, told with {@linkcode InfillPromptOptions.files}. Default `"repository"`. */
  repository?: string | undefined;
  /** The name of the file where the model writes, told with {@linkcode InfillPromptOptions.files}. Default `"file"`. */
  file?: string | undefined;
  /** Whether what is before or what is behind comes first: `"psm"` (prefix, suffix, middle) is what most models were trained for. Default `"psm"`. */
  order?: "psm" | "spm" | undefined;
}

/** How a gap in a text is filled. */
export interface InfillOptions extends GenerationOptions, InfillPromptOptions {}

const promptNames = ["files", "repository", "file", "order"] as const;
const MAX_FILES = 1000;

/** Checks what is to be filled, and options of a generation. Throws {@linkcode InvalidArgumentError}. */
export function checkInfill(
  prefix: unknown,
  suffix: unknown,
  options: InfillOptions | undefined,
): { prompt: Prompt; settings: GenerationSettings } {
  const checked = checkOptions("model.infill", options, [...generationNames, ...promptNames]);
  return { prompt: infillPrompt(prefix, suffix, checked), settings: settingsOf(checked) };
}

/** Checks what is to be filled. Throws {@linkcode InvalidArgumentError}. */
export function checkInfillPrompt(
  prefix: unknown,
  suffix: unknown,
  options: InfillPromptOptions | undefined,
): Extract<Prompt, { kind: "infill" }> {
  return infillPrompt(prefix, suffix, checkOptions("model.infillTokens", options, promptNames));
}

function infillPrompt(
  prefix: unknown,
  suffix: unknown,
  options: InfillPromptOptions,
): Extract<Prompt, { kind: "infill" }> {
  const { files = [], repository = "repository", file = "file", order = "psm" } = options;
  return {
    kind: "infill",
    prefix: checkText("the prefix", prefix),
    suffix: checkText("the suffix", suffix),
    files: checkFiles(files),
    repository: checkText("repository", repository),
    file: checkText("file", file),
    order: checkOneOf("order", order, ["psm", "spm"]),
  };
}

function checkFiles(files: unknown): readonly InfillFile[] {
  if (!Array.isArray(files) || files.length > MAX_FILES) {
    throw new InvalidArgumentError(`files is ${show(files)}; give an array of at most ${MAX_FILES}`, {
      value: files,
      expected: `at most ${MAX_FILES} files`,
    });
  }
  return files.map((file: unknown, index) => {
    const { name, text } = checkOptions(`files[${index}]`, file as InfillFile, ["name", "text"]);
    return { name: checkText(`files[${index}].name`, name), text: checkText(`files[${index}].text`, text) };
  });
}
