/**
 * Jinja as Python's jinja2 renders it, with the settings that Hugging Face's transformers uses for chat templates: the immutable sandbox, `trim_blocks`,
 * `lstrip_blocks`, `break` and `continue`, its own `tojson`, `raise_exception`, `strftime_now` and the tag `generation`.
 *
 * Templates come out of model files, which may be anyone's: how long they may run, how deep they may nest and how large their values may become is limited.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { compile, render } from "./mod.ts";
 *
 * const limits = { steps: 1000, depth: 100, characters: 1000, range: 100, milliseconds: 1000 };
 * const template = compile("{{ [1, 'a', none] | string }} {{ -7 % 3 }}", limits.depth);
 * assert.equal(render(template, { variables: new Map(), limits }).text, "[1, 'a', None] 2");
 * ```
 *
 * @module
 */

import { execute } from "./evaluate/statements.ts";
import { Scope } from "./evaluate/scope.ts";
import { globalFunctions } from "./globals.ts";
import { library } from "./library.ts";
import type { Statement } from "./parse/nodes.ts";
import { parseTemplate } from "./parse/statements.ts";
import { Run, type RunLimits } from "./run.ts";
import { textOf } from "./values/text.ts";
import type { Value } from "./values/types.ts";

export { fromData } from "./convert.ts";
export { JinjaError, type JinjaErrorKind, JinjaLimitError, JinjaSyntaxError } from "./errors.ts";
export type { RunLimits } from "./run.ts";
export type { Value } from "./values/types.ts";

/** A parsed template. */
export type Template = readonly Statement[];

/** How a template is rendered. */
export interface RenderOptions {
  /** The variables that it knows. */
  readonly variables: ReadonlyMap<string, Value>;
  /** How much it may take. */
  readonly limits: RunLimits;
  /** Called every few thousand steps; throws when the work was cancelled. */
  readonly check?: () => void;
  /** What `strftime_now` writes. Default the present. */
  readonly now?: Date;
}

/** What a template gave. */
export interface Rendered {
  /** The text. */
  readonly text: string;
  /** Where each range begins and ends that came from outside of the template, in UTF-16 units. */
  readonly outside: readonly number[];
}

/** Parses a template. Throws {@linkcode JinjaSyntaxError}, and {@linkcode JinjaLimitError} when it is nested deeper than `maxDepth`. */
export function compile(template: string, maxDepth: number): Template {
  return parseTemplate(template, maxDepth);
}

/** Renders a template. Throws {@linkcode JinjaError} when it fails, {@linkcode JinjaLimitError}, and what `check` throws. */
export function render(template: Template, { variables, limits, check, now }: RenderOptions): Rendered {
  const run = new Run(limits, check ?? (() => {}), library);
  const globals = new Scope();
  for (const [name, value] of globalFunctions(now ?? new Date())) globals.set(name, value);
  for (const [name, value] of variables) globals.set(name, value);
  const text = execute(template, new Scope(globals), run);
  return { text: textOf(text), outside: typeof text === "string" ? [] : text.outside };
}
