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

/** What stands before and behind what a model thinks. */
export interface ReasoningMarks {
  /** Before. */
  readonly open: string;
  /** Behind. */
  readonly close: string;
  /** What closes a thought that is ended for the model, up to where the text begins. Default the mark on a line of its own. */
  readonly closing?: string;
  /** What ends a thought too, without being part of its end. */
  readonly ends?: readonly string[];
}

/** How a family writes calls. */
export interface Family {
  /** Its name. */
  readonly name: FamilyName;
  /** What a template of the family has in it: one of these lists of strings, each with all of its strings. */
  readonly signs: readonly (readonly string[])[];
  /** What calls begin with. */
  openings(tools: ToolShapes): readonly string[];
  /** Reads the calls behind an opening; false when there is none, and then nothing was given out. */
  read(context: ParseContext, opening: string): Parse<boolean>;
  /** Reads what may stand at the start of an answer alone; false when it isn't there. */
  readStart?(context: ParseContext): Parse<boolean>;
  /** What is dropped wherever it comes. */
  readonly dropped?: readonly string[];
  /** Other control tokens that the form is made of. */
  readonly marks?: readonly string[];
  /** What the text of an answer begins with, where that isn't its first character. */
  readonly answerStart?: string;
  /** Whether a call ends what the model thinks, also where that wasn't closed. */
  readonly callEndsReasoning?: boolean;
  /** How answers are read that are messages with headers. */
  readonly messages?: MessageForm;
  /** Marks of the thought, where the family itself has them: templates needn't be looked at. */
  readonly thought?: ReasoningMarks;
  /** Whether every answer is made of the marks, also one that calls nothing. */
  readonly isFramed?: boolean;
}
