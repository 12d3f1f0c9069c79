import { matchesGrammar, parseGrammar } from "../../../gbnf/mod.ts";
import type { CallsForm } from "../call_forms.ts";
import { toolGrammar } from "../grammar.ts";
import { AnswerParser } from "./answer_parser.ts";
import { derivedFamily, layoutCalls, pythonFamily } from "./derive.ts";
import { fallback, families } from "./families.ts";
import type { Family, ReasoningMarks } from "./family.ts";
import type { AnswerForm } from "./form.ts";
import { layoutOf } from "./layout.ts";
import { PROBE_ARGUMENTS, PROBE_TOOL, probeTool, type WrittenCalls } from "./probe.ts";
import { toolShapes } from "./shapes.ts";

export type { AnswerForm } from "./form.ts";
export type { ReasoningMarks } from "./family.ts";

/** Knowledge of a model beside the text of its template. */
export interface FormEvidence {
  /** The tokens of its vocabulary that stand for themselves. Default none. */
  readonly tokens?: readonly string[] | undefined;
  /** The calls that its template writes. Default unknown. */
  readonly written?: WrittenCalls | undefined;
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
 * Returns how answers to a chat template are read. The calls that the template writes decide: a family must read them. A layout that no family reads is
 * derived from them. Where the template writes no calls, the signs in its text decide, then the tokens of the vocabulary. A template of which nothing is
 * known gives `"json"`.
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
export function answerForm(template: string, { tokens = [], written }: FormEvidence = {}): AnswerForm {
  const known = new Set(tokens);
  const inTemplate = (sign: string): boolean => template.includes(sign);
  const signed = familyOf(inTemplate) ?? familyOf((sign) => known.has(sign));
  const { family, calls } = written === undefined
    ? { family: signed ?? fallback }
    : familyByCalls(written, signed, template);
  return { family, reasoning: reasoningOf(family, inTemplate), ...(calls === undefined ? {} : { calls }) };
}

/** The family whose signs are all there. */
function familyOf(has: (sign: string) => boolean): Family | undefined {
  return families.find(({ signs }) => signs.some((all) => all.every(has)));
}

/** The marks of the reasoning in a family's answers. */
function reasoningOf(family: Family, has: (sign: string) => boolean): ReasoningMarks | undefined {
  if (family.messages !== undefined) return undefined;
  return family.thought ?? reasoningMarks.find(({ open, close }) => has(open) || has(close));
}

function familyByCalls(
  written: WrittenCalls,
  signed: Family | undefined,
  template: string,
): { family: Family; calls?: CallsForm | undefined } {
  const inCalls = familyOf((sign) => written.one.includes(sign));
  const bare = { one: withoutReasoning(written.one), two: written.two && withoutReasoning(written.two) };
  const layout = layoutOf(bare);
  const derived = layout === undefined ? pythonFamily(bare.one) : derivedFamily(layout);
  const candidates = [signed, inCalls, ...families, derived, fallback];
  const family = candidates.find((one) => one !== undefined && readsCalls(one, bare)) ?? signed ?? fallback;
  const isSound = layout !== undefined && derived !== undefined && readsCalls(derived, bare);
  const fits = [bare.one, bare.two ?? bare.one].every((text) => grammarFits(family, template, text));
  return { family, calls: isSound && !fits ? layoutCalls(layout) : undefined };
}

/** Returns whether the grammar of a family takes calls that the template wrote. */
function grammarFits(family: Family, template: string, written: string): boolean {
  const tools = [probeTool];
  const input = { form: { family, reasoning: undefined }, template, tools, shapes: toolShapes(tools) };
  const grammar = toolGrammar({ ...input, parallel: true, required: false, inReasoning: false });
  if (grammar === undefined) return false;
  const starts = grammar.triggers.map((trigger) => {
    if (typeof trigger === "string") return written.indexOf(trigger);
    return new RegExp(trigger.source, "d").exec(written)?.indices?.[1]?.[0] ?? -1;
  });
  const start = starts.find((at) => at >= 0);
  return start !== undefined && matchesGrammar(parseGrammar(grammar.source), written.slice(start).trimEnd());
}

/** The text behind the reasoning that it begins with. */
function withoutReasoning(text: string): string {
  const ends = reasoningMarks.map(({ close }) => ({ close, at: text.indexOf(close) }));
  const first = ends.find(({ at }) => at >= 0 && at < text.indexOf(PROBE_TOOL));
  return first === undefined ? text : text.slice(first.at + first.close.length).trimStart();
}

/** Returns whether a family finds the written calls, and takes nothing of them for text. */
function readsCalls(family: Family, { one, two }: WrittenCalls): boolean {
  return reads(family, one, 1) && (two === undefined || reads(family, two, 2));
}

function reads(family: Family, text: string, count: number): boolean {
  const parser = new AnswerParser({ family, reasoning: undefined }, toolShapes([probeTool]));
  const events = [...parser.push(text.trimStart()), ...parser.finish()];
  const rest = events.map((event) => event.type === "text" ? event.text : "").join("");
  return !rest.includes("probe") && parser.calls.length === count && parser.calls.every((call, index) => {
    const expected = JSON.stringify(PROBE_ARGUMENTS[index]);
    return call.complete && call.name === PROBE_TOOL && JSON.stringify(JSON.parse(call.arguments)) === expected;
  });
}
