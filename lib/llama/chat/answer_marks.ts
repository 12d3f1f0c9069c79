import type { AnswerMarks } from "../thread/protocol.ts";
import { toolShapes } from "../tools/parsers/shapes.ts";
import type { ChatPrompt } from "./prompt.ts";
import { reasoningLimit, type ReasoningSettings } from "./reasoning.ts";

/** Returns the control tokens that the answer's form is made of, and the limit of its reasoning; `undefined` when there are neither. */
export function answerMarks(
  { form, inReasoning }: ChatPrompt,
  settings: ReasoningSettings,
  tools: boolean,
): AnswerMarks | undefined {
  const { family, reasoning } = form;
  const budget = reasoningLimit(form, settings, inReasoning);
  const shown = [
    ...(reasoning === undefined ? [] : [reasoning.open, reasoning.close]),
    ...(family.dropped ?? []),
    ...(tools ? family.openings(toolShapes([])) : []),
    ...(tools || family.isFramed === true ? family.marks ?? [] : []),
  ];
  return shown.length === 0 && budget === undefined ? undefined : { shown, budget };
}
