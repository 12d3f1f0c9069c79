import { InvalidArgumentError } from "../../errors.ts";
import { checkInteger, checkOptions, show } from "../../support/check.ts";
import type { ReasoningLimit } from "../thread/protocol.ts";
import type { AnswerForm, ReasoningMarks } from "../tools/parsers/detect.ts";

/** Options of the reasoning before an answer. */
export interface ReasoningOptions {
  /** The maximum number of tokens: then the reasoning is closed, and the answer begins. 0 to 2,147,483,647, default no limit. */
  budget?: number | undefined;
}

/** Checked options of the reasoning. */
export interface ReasoningSettings {
  /** Whether the template is asked for reasoning. */
  enabled: boolean;
  /** The maximum number of tokens; `undefined` is no limit. */
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

/** Returns the limit as the generation loop takes it; `undefined` when there is none, or nothing is known of the marks of reasoning. */
export function reasoningLimit(
  { family, reasoning = family.thought }: AnswerForm,
  { budget }: ReasoningSettings,
  opened: boolean,
): ReasoningLimit | undefined {
  if (budget === undefined || reasoning === undefined) return undefined;
  const { open, close } = reasoning;
  return { tokens: budget, open, close, closing: closingOf(reasoning), opened };
}

/** Returns the text that closes reasoning, up to where the answer's text begins. */
export function closingOf({ close, closing }: ReasoningMarks): string {
  return closing ?? `\n${close}\n\n`;
}
