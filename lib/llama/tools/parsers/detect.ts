import { families } from "./families.ts";
import type { Family } from "./family.ts";

/** What stands before and behind what a model thinks. */
export interface ReasoningMarks {
  /** Before. */
  readonly open: string;
  /** Behind. */
  readonly close: string;
}

/** How a model's answers are read. */
export interface AnswerForm {
  /** How it writes calls of tools. */
  readonly family: Family;
  /** How it marks what it thinks; `undefined` when nothing in its template says so. Harmony's channels need none. */
  readonly reasoning: ReasoningMarks | undefined;
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
 * How answers to a chat template are read, by what the template has in it. A template of no known family gives `"json"`.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { answerForm } from "./detect.ts";
 *
 * assert.equal(answerForm("… <tool_call> … <think>").family.name, "hermes");
 * assert.deepEqual(answerForm("… <tool_call> … <think>").reasoning, { open: "<think>", close: "</think>" });
 * ```
 */
export function answerForm(template: string): AnswerForm {
  const has = (sign: string): boolean => template.includes(sign);
  const family = families.find(({ signs }) => signs.some((all) => all.every(has))) ?? families.at(-1);
  if (family === undefined) throw new TypeError("unreachable");
  const reasoning = family.name === "harmony"
    ? undefined
    : reasoningMarks.find(({ open, close }) => has(open) || has(close));
  return { family, reasoning };
}
