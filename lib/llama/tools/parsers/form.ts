import type { CallsForm } from "../call_forms.ts";
import type { Family, ReasoningMarks } from "./family.ts";

/** How a model's answers are read. */
export interface AnswerForm {
  /** How it writes calls of tools. */
  readonly family: Family;
  /** How it marks its reasoning; `undefined` when nothing says so, and where answers are messages with headers. */
  readonly reasoning: ReasoningMarks | undefined;
  /** How its template writes calls, where a grammar can be made of that. */
  readonly calls?: CallsForm;
}
