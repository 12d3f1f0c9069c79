import type { CallsForm } from "../call_forms.ts";
import type { Family, ReasoningMarks } from "./family.ts";

/** The form of a model's answers. */
export interface AnswerForm {
  /** The family, which reads tool calls. */
  readonly family: Family;
  /** The marks of reasoning; `undefined` when unknown, and where answers are messages with headers. */
  readonly reasoning: ReasoningMarks | undefined;
  /** The layout of calls in the template, where a grammar can be made of it. */
  readonly calls?: CallsForm;
}
