import type { ToolCall } from "./message.ts";
import type { ChatEvent, MalformedToolCall } from "./turn.ts";
import type { PieceSink } from "../generation/generation.ts";
import { AnswerParser, type AnswerStart } from "../tools/parsers/answer_parser.ts";
import type { ToolShapes } from "../tools/parsers/call_object.ts";
import type { AnswerForm } from "../tools/parsers/detect.ts";
import type { ParsedToolCall, ParseEvent } from "../tools/parsers/sink.ts";

/** A call as the model wrote it. */
export interface AnswerCall {
  /** Tells it from the conversation's other calls. */
  readonly id: string;
  /** As the model wrote it. */
  readonly parsed: ParsedToolCall;
  /** With its arguments as an object; `undefined` when it can't be used. */
  readonly call: ToolCall | undefined;
}

/** The parts of an answer. */
export interface Answer {
  /** The text, without the prefill. */
  text: string;
  /** The reasoning. */
  reasoning: string;
  /** The calls that it made. */
  calls: AnswerCall[];
}

/** Reads one answer piece by piece, and passes its parts on. */
export class AnswerReader {
  readonly #parser: AnswerParser;
  readonly #sink: PieceSink;
  readonly #emit: (event: ChatEvent) => void;
  readonly #firstCall: number;
  #read = 0;
  #skip: number;
  #separator: string;
  /** The answer so far. */
  readonly answer: Answer = { text: "", reasoning: "", calls: [] };

  /** `prefix` is what the prompt has begun the answer with, of which `prefill` is text; `separator` goes before its first text. */
  constructor(
    form: AnswerForm,
    tools: ToolShapes,
    start: AnswerStart & { prefix: string; prefill: string; separator: string; firstCall: number },
    sink: PieceSink,
    emit: (event: ChatEvent) => void,
  ) {
    this.#parser = new AnswerParser(form, tools, start);
    this.#sink = sink;
    this.#emit = emit;
    this.#firstCall = start.firstCall;
    this.#separator = start.separator;
    this.#skip = start.prefill.length;
    this.#take(this.#parser.push(start.prefix + start.prefill));
  }

  /** Takes the next piece. */
  push(piece: string): void {
    this.#read += piece.length;
    this.#take(this.#parser.push(piece));
  }

  /** Ends it: the whole text that was generated, of which pieces may not have been sent. */
  finish(text: string): Answer {
    if (text.length > this.#read) this.push(text.slice(this.#read));
    this.#take(this.#parser.finish());
    return this.answer;
  }

  #take(events: readonly ParseEvent[]): void {
    for (const event of events) this.#pass(event);
  }

  #pass(event: ParseEvent): void {
    switch (event.type) {
      case "text":
        return this.#say(event.text);
      case "reasoning":
        this.answer.reasoning += event.text;
        return this.#emit(event);
      case "callStart":
        this.#skip = 0;
        return this.#emit({ type: "toolCallStart", id: this.#id(event.index), name: event.name });
      case "callArguments":
        return this.#emit({ type: "toolCallArguments", id: this.#id(event.index), text: event.text });
      case "callEnd":
        return this.#endCall(this.#id(event.index), event.call);
    }
  }

  #say(given: string): void {
    const text = given.slice(this.#skip);
    this.#skip = Math.max(0, this.#skip - given.length);
    if (text === "") return;
    const whole = this.answer.text === "" ? this.#separator + text : text;
    this.answer.text += text;
    this.#sink.push(whole);
    this.#emit({ type: "text", text: whole });
  }

  #endCall(id: string, parsed: ParsedToolCall): void {
    const args = parsed.complete ? argumentsOf(parsed.arguments) : undefined;
    const call = args === undefined ? undefined : { id, name: parsed.name, arguments: args };
    this.answer.calls.push({ id, parsed, call });
    if (call === undefined) this.#emit({ type: "toolCallMalformed", id, call: malformed(parsed) });
    else this.#emit({ type: "toolCall", id, call });
  }

  /** Nine letters and digits, as the strictest templates want it; the same in each run. */
  #id(index: number): string {
    return `call${String(this.#firstCall + index).padStart(5, "0")}`;
  }
}

/** Returns a call that can't be used as it is reported. */
export function malformed({ name, arguments: args }: ParsedToolCall): MalformedToolCall {
  return { name, arguments: args };
}

function argumentsOf(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}
