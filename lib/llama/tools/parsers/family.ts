import type { ParseContext, ToolShapes } from "./call_object.ts";
import type { MessageForm } from "./framed_messages.ts";
import type { Parse } from "./reader.ts";

/** The name of a family. */
export type FamilyName =
  | "hermes"
  | "qwen-coder"
  | "glm"
  | "seed"
  | "minimax"
  | "llama"
  | "mistral"
  | "command-r"
  | "command-r-plus"
  | "functionary"
  | "functionary-tags"
  | "deepseek"
  | "deepseek-markup"
  | "kimi"
  | "granite"
  | "nemotron"
  | "apertus"
  | "firefunction"
  | "lfm"
  | "harmony"
  | "gemma"
  | "gigachat"
  | "hunyuan"
  | "solar"
  | "minicpm"
  | "kimi-3"
  | "minimax-3"
  | "muse"
  | "derived"
  | "json";

/** The marks around a model's reasoning. */
export interface ReasoningMarks {
  /** The mark before it. */
  readonly open: string;
  /** The mark behind it. */
  readonly close: string;
  /** The text that ends reasoning on the model's behalf, up to where the answer's text begins. Default the closing mark on a line of its own. */
  readonly closing?: string;
  /** Marks of the next part, which end reasoning too. */
  readonly ends?: readonly string[];
}

/** A family of models that write tool calls in the same way. */
export interface Family {
  /** Its name. */
  readonly name: FamilyName;
  /** Signs of the family in the text of a template: all strings of one of these lists. */
  readonly signs: readonly (readonly string[])[];
  /** Returns the marks that begin calls. */
  openings(tools: ToolShapes): readonly string[];
  /** Reads the calls behind an opening mark; false, without any output, when there are none. */
  read(context: ParseContext, opening: string): Parse<boolean>;
  /** Reads a call without a mark at the start of an answer; false when there is none. */
  readStart?(context: ParseContext): Parse<boolean>;
  /** Marks that are dropped wherever they are. */
  readonly dropped?: readonly string[];
  /** Other control tokens of the form. */
  readonly marks?: readonly string[];
  /** The marks before the text of an answer. */
  readonly answerStart?: string;
  /** Whether a call ends reasoning that wasn't closed. */
  readonly callEndsReasoning?: boolean;
  /** The form of answers that are messages with headers. */
  readonly messages?: MessageForm;
  /** The marks of reasoning, where the family itself has them: templates needn't be looked at. */
  readonly thought?: ReasoningMarks;
  /** Whether every answer is made of the marks, also one that calls nothing. */
  readonly isFramed?: boolean;
}
