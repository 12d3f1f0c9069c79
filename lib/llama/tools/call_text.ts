import { type CallForm, type CallsForm, callsForm } from "./call_forms.ts";
import type { FamilyName } from "./parsers/family.ts";

/** A call of a tool. */
export interface WrittenCall {
  /** The tool's name. */
  readonly name: string;
  /** Its arguments. */
  readonly arguments: unknown;
}

/**
 * Returns the text of calls as a model of a family writes them, for a template that doesn't; in the form of the family `json` where theirs needs more than
 * names and arguments.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { callText } from "./call_text.ts";
 *
 * const calls = [{ name: "add", arguments: { a: 1, b: "x" } }];
 * assert.equal(callText(calls, "lfm", ""), '<|tool_call_start|>[add(a=1, b="x")]<|tool_call_end|>');
 * ```
 */
export function callText(calls: readonly WrittenCall[], family: FamilyName, template: string): string {
  const own = callsForm(family, template);
  const form = own !== undefined && isWritable(own, calls.length) ? own : callsForm("json", template);
  const [call] = form?.calls ?? [];
  if (form === undefined || call === undefined) throw new Error("the family json has a form");
  return form.open + calls.map((one) => oneCall(one, call)).join(form.between ?? "") + form.close;
}

/** Whether nothing in the form stands for what isn't known of a call. */
function isWritable(form: CallsForm, count: number): boolean {
  return form.calls.every(({ kind }) => kind === "object" || kind === "markup") &&
    !JSON.stringify(form).includes("\\u0000") && (count === 1 || form.between !== undefined);
}

function oneCall(call: WrittenCall, form: CallForm): string {
  const start = form.open + call.name + form.middle;
  if (form.kind !== "markup") return start + JSON.stringify(call.arguments) + form.close;
  const [before, between, behind] = form.argument;
  const entries = Object.entries(call.arguments as Record<string, unknown>);
  const written = entries.map(([name, value]) => {
    const text = typeof value === "string" && form.json !== true ? value : JSON.stringify(value);
    return before + name + between + text + behind;
  });
  return start + written.join(form.separator ?? "") + form.close;
}
