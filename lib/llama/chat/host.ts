import type { GenerationResult, PieceSink } from "../generation/generation.ts";
import type { GenerationSettings } from "../generation/options.ts";
import type { Prompt } from "../thread/protocol.ts";
import type { PromptHost } from "./prompt.ts";

/** The model, as far as a chat needs it. */
export interface ChatHost extends PromptHost {
  /** Does the work of a turn, for which a dispose of the model waits. Rejects when the model was disposed. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Generates an answer. */
  generate(
    prompt: Prompt,
    settings: GenerationSettings,
    owner: number,
    signal: AbortSignal,
    sink: PieceSink,
  ): Promise<GenerationResult>;
}
