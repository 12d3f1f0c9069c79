import { isPlainObject, refuse } from "../../../base/check.ts";
import { integer, options, type RulesOf } from "../../../base/options.ts";
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

const spec = options(
  "reasoning",
  { budget: integer({ min: 0, max: 0x7fff_ffff }) } satisfies RulesOf<ReasoningOptions>,
);

/** Checks the option `reasoning`. Throws InvalidArgumentError. */
export function checkReasoning(reasoning: unknown): ReasoningSettings {
  if (reasoning === undefined || reasoning === true) return { enabled: true, budget: undefined };
  if (reasoning === false) return { enabled: false, budget: 0 };
  if (!isPlainObject(reasoning)) return refuse("reasoning", reasoning, "true, false or { budget }");
  return { enabled: true, ...spec.checkAt("reasoning", reasoning) };
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
