/**
 * The registry of requirements: what each C function needs of a call, beyond which it aborts, crashes or hangs. What parameters say of themselves
 * (pointers that may not be NULL, enums, integers) comes from the tables, the rest from the rules beside this file.
 *
 * @module
 */

import { backendRules } from "./backend.ts";
import { ggmlRules } from "./ggml.ts";
import { ggufRules } from "./gguf.ts";
import { llamaRules } from "./llama.ts";
import { mtmdRules } from "./mtmd.ts";
import { operatorRules } from "./operators.ts";
import { type FunctionShape, functionShape, type Parameter } from "./parameters.ts";
import type { Rule, Unseen } from "./rule.ts";
import { whisperRules } from "./whisper.ts";

/** The rules by the files that have them. */
export const ruleFiles: Readonly<Record<string, readonly Rule[]>> = {
  "operators.ts": operatorRules,
  "ggml.ts": ggmlRules,
  "backend.ts": backendRules,
  "gguf.ts": ggufRules,
  "llama.ts": llamaRules,
  "mtmd.ts": mtmdRules,
  "whisper.ts": whisperRules,
};

/** All that a function requires. */
export interface Requirements {
  readonly shape: FunctionShape;
  /** Conditions over its arguments, in the order in which they are checked. */
  readonly conditions: readonly string[];
  readonly unseen: readonly Unseen[];
}

/** The requirements of a function of the tables. */
export function requirementsOf(name: string): Requirements {
  const rules = Object.values(ruleFiles).flat().filter(({ functions }) => functions.test(name));
  return {
    shape: functionShape(name),
    conditions: [...new Set(rules.flatMap(({ conditions }) => conditions))],
    unseen: rules.flatMap(({ unseen }) => unseen),
  };
}

/** What a parameter says of itself, in words; `undefined` where any value of its type will do. */
export function parameterWords({ code, isNullable, pointee, enumName }: Parameter): string | undefined {
  if (enumName !== undefined) return `a value of ${enumName}`;
  const nullable = isNullable ? " or null" : "";
  if (code === "s") return `text${nullable}`;
  if (code === "d") return `memory${nullable}`;
  if (code === "c") return `a C function${nullable}`;
  if (code === "p") {
    return `${pointee === undefined || pointee === "void" ? "a pointer" : `a live ${pointee}`}${nullable}`;
  }
  return code.startsWith("{") ? `a view of ${code.slice(1, -1)}` : numberWords(code);
}

function numberWords(code: string): string {
  if (code === "b") return "true or false";
  return code.startsWith("f")
    ? "a number"
    : `an integer of ${code.slice(1)} bits${code.startsWith("u") ? ", 0 or more" : ""}`;
}
