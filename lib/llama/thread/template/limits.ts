import { ChatTemplateError } from "../../../errors.ts";

/** How much a chat template may do: it comes out of a model file, which may be anyone's. */
export interface TemplateLimits {
  /** Characters of the template itself. */
  readonly source: number;
  /** Steps: an expression evaluated is one, and so are some dozens of characters handled. */
  readonly steps: number;
  /** Expressions within expressions. */
  readonly depth: number;
  /** Characters of a text, and of all texts in a list or object. */
  readonly characters: number;
  /** Numbers that `range` gives. */
  readonly range: number;
  /** Milliseconds in all. */
  readonly milliseconds: number;
}

/** Some hundred times what templates of well-known models take for two hundred messages of a few sentences. */
export const templateLimits: TemplateLimits = {
  source: 262_144,
  steps: 4_000_000,
  depth: 300,
  characters: 8_000_000,
  range: 100_000,
  milliseconds: 30_000,
};

/** The error of a template that does more than it may. */
export function overLimit(what: string, limit: number): ChatTemplateError {
  return new ChatTemplateError(
    `the chat template was stopped: it takes more than ${limit} ${what}; give another by the option template, or use model.complete`,
    { value: what, expected: `at most ${limit} ${what}` },
  );
}
