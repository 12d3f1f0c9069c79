/** A call of a tool as the model wrote it. */
export interface ParsedToolCall {
  /** The id that the model gave it; many families have none. */
  id: string | undefined;
  /** The name of the tool. */
  name: string;
  /** The arguments as JSON text; only the beginning of it when the call isn't complete. */
  arguments: string;
  /** Whether the call was written to its end in its family's form. */
  complete: boolean;
}

/** An event of a parser, in the order of the text. */
export type ParseEvent =
  /** Text for the reader. */
  | { readonly type: "text"; readonly text: string }
  /** Reasoning. */
  | { readonly type: "reasoning"; readonly text: string }
  /** A call begins; `index` counts the calls of the message. */
  | { readonly type: "callStart"; readonly index: number; readonly name: string; readonly id: string | undefined }
  /** More of its arguments. */
  | { readonly type: "callArguments"; readonly index: number; readonly text: string }
  /** It has ended. */
  | { readonly type: "callEnd"; readonly index: number; readonly call: ParsedToolCall };

/** The kind of a stretch of generated text. */
export type SpanKind = "text" | "reasoning" | "call" | "markup";

/** A stretch of generated text. */
export interface Span {
  /** Its kind. */
  readonly kind: SpanKind;
  /** The index of its end; it begins where the one before it ends. */
  readonly to: number;
}

/** Collects the output of a parser. */
export class Sink {
  #events: ParseEvent[] = [];
  #space = "";
  #current: ParsedToolCall | undefined;
  /** All calls that began. */
  readonly calls: ParsedToolCall[] = [];
  /** All stretches of the text. */
  readonly spans: Span[] = [];
  /** The number of characters that were last read in vain. */
  inVain = 0;

  /** Returns the events since the last call. */
  take(): ParseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Notes the kind of the text up to an index. */
  span(kind: SpanKind, to: number): void {
    const last = this.spans.at(-1);
    if (to <= (last?.to ?? 0)) return;
    if (last?.kind === kind) this.spans.pop();
    this.spans.push({ kind, to });
  }

  /** Adds text. White space at its end waits for what follows, and is dropped before a call. */
  text(text: string): void {
    const all = this.#space + text;
    const body = all.trimEnd();
    this.#space = all.slice(body.length);
    if (body === "") return;
    this.#give("text", body);
  }

  /** Adds reasoning. */
  reasoning(text: string): void {
    if (text !== "") this.#give("reasoning", text);
  }

  #give(type: "text" | "reasoning", text: string): void {
    const last = this.#events.at(-1);
    if (last?.type === type) this.#events[this.#events.length - 1] = { type, text: last.text + text };
    else this.#events.push({ type, text });
  }

  /** Begins a call. */
  startCall(name: string, id: string | undefined): void {
    this.#space = "";
    const index = this.calls.length;
    this.#current = { id, name, arguments: "", complete: false };
    this.calls.push(this.#current);
    this.#events.push({ type: "callStart", index, name, id });
  }

  /** Adds to the arguments of the call that began last. */
  argumentText(text: string): void {
    if (this.#current === undefined || text === "") return;
    this.#current.arguments += text;
    const last = this.#events.at(-1);
    if (last?.type === "callArguments") {
      this.#events[this.#events.length - 1] = { ...last, text: last.text + text };
    } else this.#events.push({ type: "callArguments", index: this.calls.length - 1, text });
  }

  /** Ends the call. An id may come behind its arguments. */
  endCall(complete: boolean, id?: string): void {
    const call = this.#current;
    if (call === undefined) return;
    call.complete = complete;
    call.id ??= id;
    this.#current = undefined;
    this.#events.push({ type: "callEnd", index: this.calls.length - 1, call: { ...call } });
  }

  /** Ends the text. */
  finish(): void {
    this.endCall(false);
    if (this.#space !== "" && (this.calls.length === 0)) this.#events.push({ type: "text", text: this.#space });
    this.#space = "";
  }
}
