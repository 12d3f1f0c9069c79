import type { ParseContext, ToolShapes } from "./call_object.ts";
import type { AnswerForm } from "./form.ts";
import { readMessages } from "./framed_messages.ts";
import { type Parse, Reader } from "./reader.ts";
import { type ParseEvent, Sink, type Span } from "./sink.ts";

/** The state that an answer begins in. */
export interface AnswerStart {
  /** Whether the prompt has already opened the reasoning. Default false. */
  readonly inReasoning?: boolean;
  /** Whether calls are looked for. Default true. */
  readonly calls?: boolean;
}

/**
 * Reads an answer while it is generated: reasoning, text and tool calls. Anything that isn't a call in the right form is text; nothing is lost and
 * nothing throws. The result doesn't depend on how the text is cut into pieces.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { AnswerParser } from "./answer_parser.ts";
 * import { answerForm } from "./detect.ts";
 * import { toolShapes } from "./shapes.ts";
 *
 * const parser = new AnswerParser(answerForm("<tool_call>"), toolShapes([{ name: "add", parameters: {} }]));
 * parser.push('Let me see. <tool_call>{"name": "add", "argum');
 * const [text] = parser.push('ents": {"a": 1}}</tool_call>');
 * parser.finish();
 * assert.deepEqual(parser.calls, [{ id: undefined, name: "add", arguments: '{"a": 1}', complete: true }]);
 * ```
 */
export class AnswerParser {
  readonly #reader = new Reader();
  readonly #sink = new Sink();
  readonly #parse: Parse<void>;
  #done = false;

  /** Makes a parser for one answer. */
  constructor(form: AnswerForm, tools: ToolShapes, start: AnswerStart = {}) {
    this.#parse = readAnswer({ reader: this.#reader, sink: this.#sink, tools }, form, start);
  }

  /** Takes the next piece, of whole characters, and returns its events. */
  push(piece: string): ParseEvent[] {
    this.#reader.push(piece);
    this.#step();
    return this.#sink.take();
  }

  /** Ends the answer, and returns the events that were held back. */
  finish(): ParseEvent[] {
    this.#reader.ended = true;
    this.#step();
    this.#sink.finish();
    return this.#sink.take();
  }

  /** The calls so far. */
  get calls(): Sink["calls"] {
    return this.#sink.calls;
  }

  /** All stretches of the text and their kinds, from its start. */
  get spans(): readonly Span[] {
    return this.#sink.spans;
  }

  #step(): void {
    if (!this.#done) this.#done = this.#parse.next().done === true;
  }
}

/** The number of characters read in vain after which no more calls are sought: a bound on the cost of hostile text. */
const MAX_IN_VAIN = 1 << 20;

function* readAnswer(context: ParseContext, form: AnswerForm, start: AnswerStart): Parse<void> {
  const { reader, sink } = context;
  if (form.family.messages !== undefined) return yield* readMessages(context, form.family.messages);
  yield* readReasoning(context, form, start);
  const { family } = form;
  const openings = start.calls === false ? [] : family.openings(context.tools);
  if (start.calls !== false && family.readStart !== undefined) {
    yield* attempt(context, () => family.readStart?.(context));
  }
  const dropped = family.dropped ?? [];
  let inVain = 0;
  for (;;) {
    const found = yield* reader.until(inVain > MAX_IN_VAIN ? dropped : [...openings, ...dropped], (from, to) => {
      sink.text(reader.slice(from, to));
      sink.span("text", to);
    });
    if (found === undefined) return;
    if (dropped.includes(found)) {
      reader.at += found.length;
      sink.span("markup", reader.at);
      continue;
    }
    const isCall = yield* attempt(context, () => {
      reader.at += found.length;
      return family.read(context, found);
    });
    if (isCall) continue;
    inVain += sink.inVain;
    sink.text(found);
    reader.at += found.length;
    sink.span("text", reader.at);
  }
}

/** Reads something tentatively: the reader goes back when it isn't there. */
function* attempt({ reader, sink }: ParseContext, read: () => Parse<boolean> | undefined): Parse<boolean> {
  const from = reader.begin();
  const calls = sink.calls.length;
  const found = (yield* read() ?? none()) === true;
  if (found && sink.calls.length > calls) sink.span("call", reader.at);
  else if (found) sink.span("markup", reader.at);
  else {
    sink.inVain = reader.at - from;
    reader.at = from;
  }
  reader.settle();
  return found;
}

// deno-lint-ignore require-yield
function* none(): Parse<boolean> {
  return false;
}

function* readReasoning(context: ParseContext, { family, reasoning }: AnswerForm, start: AnswerStart): Parse<void> {
  const { reader, sink } = context;
  if (reasoning === undefined) return;
  const mark = yield* reader.takeAfterSpace([reasoning.open, reasoning.close]);
  if (mark !== undefined) sink.span("markup", reader.at);
  if (mark === reasoning.close) return yield* skipSpace(context);
  if (mark === undefined && start.inReasoning !== true) return;
  yield* skipSpace(context);
  const calls = family.callEndsReasoning === true && start.calls !== false ? family.openings(context.tools) : [];
  const ends = [...calls, ...reasoning.ends ?? []];
  let space = "";
  const found = yield* reader.until([reasoning.close, ...ends], (from, to) => {
    const all = space + reader.slice(from, to);
    const body = all.trimEnd();
    space = all.slice(body.length);
    sink.reasoning(body);
    sink.span("reasoning", to);
  });
  if (found !== reasoning.close) return;
  reader.at += found.length;
  yield* skipSpace(context);
  sink.span("markup", reader.at);
}

function* skipSpace({ reader, sink }: ParseContext): Parse<void> {
  yield* reader.skipSpace();
  sink.span("markup", reader.at);
}
