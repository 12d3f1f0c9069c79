/** Templates as the library renders them, in the terms of the oracle. */

import { compile, fromData, JinjaError, JinjaLimitError, JinjaSyntaxError, render } from "../../lib/jinja/mod.ts";
import { templateLimits } from "../../lib/llama/thread/template/limits.ts";

/** The date that the oracle has. */
export const oracleNow: Date = new Date(2026, 0, 2, 3, 4, 5);

/** The text that a template gives, or the kind and message of its error. */
export type Outcome = { text: string; error?: undefined } | { text?: undefined; error: string; message: string };

/** Renders a template. */
export function renderLocally(template: string, variables: Readonly<Record<string, unknown>>): Outcome {
  try {
    const values = new Map(Object.entries(variables).map(([name, value]) => [name, fromData(value)]));
    const made = render(compile(template, templateLimits.depth), {
      variables: values,
      limits: templateLimits,
      now: oracleNow,
    });
    return { text: made.text };
  } catch (error) {
    if (error instanceof JinjaError) return { error: error.kind, message: error.message };
    if (error instanceof JinjaSyntaxError || error instanceof JinjaLimitError) {
      return { error: error.name, message: error.message };
    }
    throw error;
  }
}

/** How two answers compare. */
export type Verdict = "same" | "refused by both" | "refused here" | "refused by jinja2" | "different";

/** Compares an answer of the library with one of jinja2. */
export function compareAnswers(mine: { text?: string | undefined }, expected: { text?: string | undefined }): Verdict {
  if (mine.text === undefined) return expected.text === undefined ? "refused by both" : "refused here";
  if (expected.text === undefined) return "refused by jinja2";
  return mine.text === expected.text ? "same" : "different";
}
