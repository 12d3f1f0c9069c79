import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, checkOptions, show } from "../../support/check.ts";
import type { ReasoningLimit } from "../thread/protocol.ts";
import type { AnswerForm, ReasoningMarks } from "../tools/parsers/detect.ts";

/** How long a model may think before it answers. */
export interface ReasoningOptions {
  /** Tokens at most: then the thought is closed, and the answer begins. 0 to 2,147,483,647, default no limit. */
  budget?: number | undefined;
}

/** Checked: the tokens of a thought at most. */
export interface ReasoningSettings {
  /** Whether the template is told to let the model think. */
  enabled: boolean;
  /** Tokens at most; `undefined` is no limit. */
  budget: number | undefined;
}

/** Checks the option `reasoning`. Throws {@linkcode InvalidArgumentError}. */
export function checkReasoning(reasoning: unknown): ReasoningSettings {
  if (reasoning === undefined || reasoning === true) return { enabled: true, budget: undefined };
  if (reasoning === false) return { enabled: false, budget: 0 };
  if (typeof reasoning !== "object") {
    throw new InvalidArgumentError(`reasoning is ${show(reasoning)}; give true, false or { budget }`, {
      value: reasoning,
      expected: "true, false or { budget }",
    });
  }
  const { budget } = checkOptions("reasoning", reasoning as ReasoningOptions, ["budget"]);
  if (budget === undefined) return { enabled: true, budget };
  return { enabled: true, budget: checkInteger("reasoning.budget", budget, { min: 0, max: 0x7fff_ffff }) };
}

/** Returns the limit as the generation loop takes it; `undefined` when there is none, or nothing is known of the marks of thoughts. */
export function reasoningLimit(
  { family, reasoning = family.thought }: AnswerForm,
  { budget }: ReasoningSettings,
  opened: boolean,
): ReasoningLimit | undefined {
  if (budget === undefined || reasoning === undefined) return undefined;
  const { open, close } = reasoning;
  return { tokens: budget, open, close, closing: closingOf(reasoning), opened };
}

/** What closes a thought, up to where the text begins. */
export function closingOf({ close, closing }: ReasoningMarks): string {
  return closing ?? `\n${close}\n\n`;
}
