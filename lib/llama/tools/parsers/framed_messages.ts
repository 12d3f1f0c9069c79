/**
 * Answers of several messages, each with a header that names its channel or recipient, as in Harmony:
 * `<|start|>assistant<|channel|>analysis<|message|>…<|end|>`.
 *
 * @module
 */

import type { ParseContext } from "./call_object.ts";
import type { Parse } from "./reader.ts";

/** The part of a message that a header announces: text, a thought, or a call of the tool with this name. */
export type MessageKind = "text" | "reasoning" | { readonly call: string };

/** The form of such messages. */
export interface MessageForm {
  /** Marks that begin a header. */
  readonly starts: readonly string[];
  /** Text that the first header may begin with, since the prompt has begun it. */
  readonly firstStarts: readonly string[];
  /** Marks that end a message. */
  readonly ends: readonly string[];
  /** The header of reasoning, up to the text, as it stands at the start of an answer. */
  readonly reasoningHeader: string;
  /** Reads a header. */
  kindOf(header: string): MessageKind;
  /** Reads the call that a message holds; false when it holds none, and then nothing was given out. */
  readCall(context: ParseContext, name: string): Parse<boolean>;
}

const MAX_HEADER_CHARACTERS = 512;
const BODY = "<|message|>";

/** Reads all messages of a turn. The header of the first begins behind its role. */
export function* readMessages(context: ParseContext, form: MessageForm): Parse<void> {
  const { reader, sink } = context;
  for (let first = true;; first = false) {
    const header = yield* readHeader(context, form, first);
    if (header !== undefined) {
      yield* readMessage(context, form, header);
      yield* reader.take(form.ends);
      sink.span("markup", reader.at);
    } else {
      const next = yield* reader.until(form.starts, (from, to) => {
        sink.text(reader.slice(from, to));
        sink.span("text", to);
      });
      if (next === undefined) return;
      if (yield* isHeader(context, form)) continue;
      sink.text(next);
      reader.at += next.length;
      sink.span("text", reader.at);
    }
  }
}

function* isHeader(context: ParseContext, form: MessageForm): Parse<boolean> {
  const from = context.reader.begin();
  const header = yield* scanHeader(context, form);
  context.reader.at = from;
  context.reader.settle();
  return header !== undefined;
}

/** Reads a header and the mark behind it; consumes nothing when there is none. */
function* readHeader(context: ParseContext, form: MessageForm, first: boolean): Parse<string | undefined> {
  const { reader, sink } = context;
  const from = reader.begin();
  const opened = yield* reader.take([...form.starts, ...(first ? [...form.firstStarts, BODY] : [])]);
  reader.at = from;
  const header = opened === undefined ? undefined : yield* scanHeader(context, form);
  if (header === undefined) reader.at = from;
  else sink.span("markup", reader.at);
  reader.settle();
  return header;
}

function* scanHeader({ reader }: ParseContext, { ends }: MessageForm): Parse<string | undefined> {
  const from = reader.at;
  const found = yield* reader.within([BODY, ...ends], MAX_HEADER_CHARACTERS);
  if (found !== BODY) return undefined;
  const text = reader.slice(from, reader.at);
  reader.at += found.length;
  return text;
}

function* readMessage(context: ParseContext, form: MessageForm, header: string): Parse<void> {
  const { reader, sink } = context;
  const kind = form.kindOf(header);
  if (typeof kind === "object") {
    const from = reader.begin();
    const isCall = yield* form.readCall(context, kind.call);
    if (!isCall) reader.at = from;
    reader.settle();
    if (isCall) return sink.span("call", reader.at);
  }
  const isThought = kind === "reasoning";
  yield* reader.until([...form.ends, ...form.starts.filter((one) => one === "<|start|>")], (from, to) => {
    if (isThought) sink.reasoning(reader.slice(from, to));
    else sink.text(reader.slice(from, to));
    sink.span(isThought ? "reasoning" : "text", to);
  });
}
