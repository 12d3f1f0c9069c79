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

/** What a parser finds in generated text, in the order in which it comes. */
export type ParseEvent =
  /** Text for the reader. */
  | { readonly type: "text"; readonly text: string }
  /** What the model thinks before it answers. */
  | { readonly type: "reasoning"; readonly text: string }
  /** A call begins; `index` counts the calls of the message. */
  | { readonly type: "callStart"; readonly index: number; readonly name: string; readonly id: string | undefined }
  /** More of its arguments. */
  | { readonly type: "callArguments"; readonly index: number; readonly text: string }
  /** It has ended. */
  | { readonly type: "callEnd"; readonly index: number; readonly call: ParsedToolCall };

/** What a stretch of generated text was taken for. */
export type SpanKind = "text" | "reasoning" | "call" | "markup";

/** A stretch of generated text. */
export interface Span {
  /** What it was taken for. */
  readonly kind: SpanKind;
  /** Where it ends; it begins where the one before it ends. */
  readonly to: number;
}

/** Collects what a parser finds. */
export class Sink {
  #events: ParseEvent[] = [];
  #space = "";
  #current: ParsedToolCall | undefined;
  /** All calls that began. */
  readonly calls: ParsedToolCall[] = [];
  /** What all of the text was taken for. */
  readonly spans: Span[] = [];
  /** Characters that were looked at last for a call that was none. */
  inVain = 0;

  /** The events since it was last asked. */
  take(): ParseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Notes what the text up to a place was taken for. */
  span(kind: SpanKind, to: number): void {
    const last = this.spans.at(-1);
    if (to <= (last?.to ?? 0)) return;
    if (last?.kind === kind) this.spans.pop();
    this.spans.push({ kind, to });
  }

  /** Text. White space at its end waits for what follows: before a call it is none. */
  text(text: string): void {
    const all = this.#space + text;
    const body = all.trimEnd();
    this.#space = all.slice(body.length);
    if (body === "") return;
    this.#give("text", body);
  }

  /** What the model thinks. */
  reasoning(text: string): void {
    if (text !== "") this.#give("reasoning", text);
  }

  #give(type: "text" | "reasoning", text: string): void {
    const last = this.#events.at(-1);
    if (last?.type === type) this.#events[this.#events.length - 1] = { type, text: last.text + text };
    else this.#events.push({ type, text });
  }

  /** A call begins. */
  startCall(name: string, id: string | undefined): void {
    this.#space = "";
    const index = this.calls.length;
    this.#current = { id, name, arguments: "", complete: false };
    this.calls.push(this.#current);
    this.#events.push({ type: "callStart", index, name, id });
  }

  /** More of the arguments of the call that began last. */
  argumentText(text: string): void {
    if (this.#current === undefined || text === "") return;
    this.#current.arguments += text;
    const last = this.#events.at(-1);
    if (last?.type === "callArguments") {
      this.#events[this.#events.length - 1] = { ...last, text: last.text + text };
    } else this.#events.push({ type: "callArguments", index: this.calls.length - 1, text });
  }

  /** The call ends. An id may come behind its arguments. */
  endCall(complete: boolean, id?: string): void {
    const call = this.#current;
    if (call === undefined) return;
    call.complete = complete;
    call.id ??= id;
    this.#current = undefined;
    this.#events.push({ type: "callEnd", index: this.calls.length - 1, call: { ...call } });
  }

  /** All of the text was read. */
  finish(): void {
    this.endCall(false);
    if (this.#space !== "" && (this.calls.length === 0)) this.#events.push({ type: "text", text: this.#space });
    this.#space = "";
  }
}
