import { fallback, families } from "./families.ts";
import type { Family, ReasoningMarks } from "./family.ts";

export type { ReasoningMarks } from "./family.ts";

/** How a model's answers are read. */
export interface AnswerForm {
  /** How it writes calls of tools. */
  readonly family: Family;
  /** How it marks thoughts; `undefined` when nothing says so, and where answers are messages with headers. */
  readonly reasoning: ReasoningMarks | undefined;
}

/** What is known of a model beside the text of its template. */
export interface FormEvidence {
  /** The tokens of its vocabulary that stand for themselves. Default none. */
  readonly tokens?: readonly string[] | undefined;
}

const reasoningMarks: readonly ReasoningMarks[] = [
  { open: "<think>", close: "</think>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "<|inner_prefix|>", close: "<|inner_suffix|>" },
  { open: "<mm:think>", close: "</mm:think>" },
  { open: "<thought>", close: "</thought>" },
  { open: "<|channel>thought", close: "<channel|>" },
];

/**
 * Returns how answers to a chat template are read, by what the template has in it and, where it says nothing, by the tokens of the vocabulary. A
 * template of no known family gives `"json"`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { answerForm } from "./detect.ts";
 *
 * assert.equal(answerForm("… <tool_call> … <think>").family.name, "hermes");
 * assert.deepEqual(answerForm("… <tool_call> … <think>").reasoning, { open: "<think>", close: "</think>" });
 * assert.equal(answerForm("{{ messages }}", { tokens: ["<|tool_call_start|>"] }).family.name, "lfm");
 * ```
 */
export function answerForm(template: string, { tokens = [] }: FormEvidence = {}): AnswerForm {
  const known = new Set(tokens);
  const inTemplate = (sign: string): boolean => template.includes(sign);
  const family = familyOf(inTemplate) ?? familyOf((sign) => known.has(sign)) ?? fallback;
  return { family, reasoning: reasoningOf(family, inTemplate) };
}

/** The family whose signs are all there. */
export function familyOf(has: (sign: string) => boolean): Family | undefined {
  return families.find(({ signs }) => signs.some((all) => all.every(has)));
}

/** The marks of the thoughts of a family's answers. */
export function reasoningOf(family: Family, has: (sign: string) => boolean): ReasoningMarks | undefined {
  if (family.messages !== undefined) return undefined;
  return family.thought ?? reasoningMarks.find(({ open, close }) => has(open) || has(close));
}
