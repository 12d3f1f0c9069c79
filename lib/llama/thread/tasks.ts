/**
 * The tasks of a model's native thread.
 *
 * @module
 */

import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { setControlVectors } from "./control_vectors.ts";
import { generate } from "./generate.ts";
import { load, unload } from "./load.ts";
import { freeLora, loadLora } from "./lora.ts";
import type { DetokenizeInput, TokenizeInput } from "./protocol.ts";
import { score, textScores } from "./score.ts";
import { type ChatVocabulary, chatVocabulary } from "./special_tokens.ts";
import type { Rendered, RenderInput } from "./template/render.ts";
import type { TemplateTraits, TraitsInput } from "./template/traits.ts";
import { detokenize, tokenize } from "./tokenizer.ts";

/** The tasks by name. */
export const llamaTasks = {
  load,
  unload,
  generate,
  score,
  textScores,
  setControlVectors,
  loadLora,
  freeLora,
  tokenize: (input: TokenizeInput, { lib }: TaskContext): Int32Array => tokenize(lib, input.vocab, input.text, input),
  detokenize: (input: DetokenizeInput, { lib }: TaskContext): string =>
    detokenize(lib, input.vocab, input.tokens, input),
  chatVocabulary: (vocab: Pointer<"llama_vocab">, { native }: TaskContext): ChatVocabulary =>
    chatVocabulary(native, vocab),
  // Jinja is imported on the first chat: a model that only completes needs none.
  templateTraits: async (input: TraitsInput, { throwIfCancelled }: TaskContext): Promise<TemplateTraits> =>
    (await import("./template/traits.ts")).templateTraits(input, { check: throwIfCancelled }),
  renderTemplate: async (input: RenderInput, { throwIfCancelled }: TaskContext): Promise<Rendered> =>
    (await import("./template/render.ts")).renderTemplate(input, { check: throwIfCancelled }),
} as const;

/** The type of {@linkcode llamaTasks}. */
export type LlamaTasks = typeof llamaTasks;
