/**
 * Messages in channels, each with a header: `<|start|>assistant<|channel|>analysis<|message|>…<|end|>`.
 *
 * @module
 */

import type { ParseContext } from "./call_object.ts";
import type { Parse } from "./reader.ts";
import { readNamedCall } from "./sections.ts";

const MAX_HEADER_CHARACTERS = 512;
const ends = ["<|end|>", "<|call|>", "<|return|>"] as const;

/** Reads all messages of a turn. The header of the first begins behind its role. */
export function* readHarmony(context: ParseContext): Parse<void> {
  const { reader, sink } = context;
  for (let first = true;; first = false) {
    const header = yield* readHeader(context, first);
    if (header !== undefined) {
      yield* readMessage(context, header);
      yield* reader.take(ends);
      sink.span("markup", reader.at);
    } else {
      const next = yield* reader.until(["<|start|>", "<|channel|>"], (from, to) => {
        sink.text(reader.slice(from, to));
        sink.span("text", to);
      });
      if (next === undefined) return;
      if (yield* isHeader(context)) continue;
      sink.text(next);
      reader.at += next.length;
      sink.span("text", reader.at);
    }
  }
}

function* isHeader(context: ParseContext): Parse<boolean> {
  const from = context.reader.begin();
  const header = yield* scanHeader(context);
  context.reader.at = from;
  context.reader.settle();
  return header !== undefined;
}

/** A header and the mark behind it; takes nothing when what comes is none. */
function* readHeader(context: ParseContext, first: boolean): Parse<string | undefined> {
  const { reader, sink } = context;
  const from = reader.begin();
  const opened = yield* reader.take(["<|start|>", "<|channel|>", ...(first ? [" to=", "<|message|>"] : [])]);
  reader.at = from;
  const header = opened === undefined ? undefined : yield* scanHeader(context);
  if (header === undefined) reader.at = from;
  else sink.span("markup", reader.at);
  reader.settle();
  return header;
}

function* scanHeader({ reader }: ParseContext): Parse<string | undefined> {
  const from = reader.at;
  const found = yield* reader.within(["<|message|>", ...ends], MAX_HEADER_CHARACTERS);
  if (found !== "<|message|>") return undefined;
  const text = reader.slice(from, reader.at);
  reader.at += found.length;
  return text;
}

function* readMessage(context: ParseContext, header: string): Parse<void> {
  const { reader, sink } = context;
  const recipient = / to=([^\s<]+)/.exec(header)?.[1];
  const channel = /<\|channel\|>\s*(\w+)/.exec(header)?.[1];
  if (recipient !== undefined && recipient !== "assistant" && recipient !== "all") {
    yield* readNamedCall(context, recipient.replace(/^functions\./, ""), ["<|call|>", "<|end|>"]);
    return sink.span("call", reader.at);
  }
  const isThought = channel === "analysis";
  yield* reader.until([...ends, "<|start|>"], (from, to) => {
    if (isThought) sink.reasoning(reader.slice(from, to));
    else sink.text(reader.slice(from, to));
    sink.span(isThought ? "reasoning" : "text", to);
  });
}
