/**
 * Calls written as a JSON object that has the tool's name and its arguments.
 *
 * @module
 */

import type { ArgumentType } from "../argument_type.ts";
import { readJson, readString, valueOf } from "./json.ts";
import type { Parse, Reader } from "./reader.ts";
import type { Sink } from "./sink.ts";

/** The names of the keys of such an object. */
export interface CallKeys {
  /** Those of the name. */
  readonly name: readonly string[];
  /** Those of the arguments. */
  readonly arguments: readonly string[];
  /** Those of the call's id. */
  readonly id: readonly string[];
  /** Those of an object around the others. */
  readonly wrapper: readonly string[];
}

/** The keys of most families. */
export const usualKeys: CallKeys = {
  name: ["name", "tool_name"],
  arguments: ["arguments", "parameters"],
  id: ["id", "tool_call_id"],
  wrapper: ["function", "tool_call"],
};

/** The outcome of reading a call: whole, broken after it had begun, or none, without any output. */
export type CallOutcome = "whole" | "broken" | "none";

/** The input and output of parsers. */
export interface ParseContext {
  /** The text. */
  readonly reader: Reader;
  /** Collects the output. */
  readonly sink: Sink;
  /** The tools that there are. */
  readonly tools: ToolShapes;
}

/** The tools, as far as parsers know them. */
export interface ToolShapes {
  /** Whether there is a tool of this name. */
  has(name: string): boolean;
  /** The type of a tool's arguments together: an object. Anything for a tool that isn't there. */
  argumentsOf(tool: string): ArgumentType;
  /** The names. */
  readonly names: readonly string[];
}

/**
 * Reads one call. With `known` it is a call only when its name is a tool's and it has arguments; else a name is enough, and the call is given out as
 * soon as its name is there.
 */
export function* readCallObject(context: ParseContext, keys: CallKeys, known: boolean): Parse<CallOutcome> {
  const object = new CallObject(context, keys, known);
  const { reader } = context;
  if ((yield* reader.peek()) !== "{") return "none";
  reader.at++;
  const whole = yield* object.readMembers(0);
  return object.end(whole);
}

class CallObject {
  readonly #context: ParseContext;
  readonly #keys: CallKeys;
  readonly #known: boolean;
  #name: string | undefined;
  #id: string | undefined;
  #early: string | undefined;
  #started = false;
  #sound = true;

  constructor(context: ParseContext, keys: CallKeys, known: boolean) {
    this.#context = context;
    this.#keys = keys;
    this.#known = known;
  }

  /** Reads the members of an object and its closing brace. */
  *readMembers(level: number): Parse<boolean> {
    const { reader } = this.#context;
    for (let first = true;; first = false) {
      yield* reader.skipSpace();
      const character = yield* reader.peek();
      if (first && character === "}") return false;
      const key = yield* readValue<string>(reader, readString);
      if (key === undefined || !(yield* takeColon(reader))) return false;
      if (!(yield* this.#readMember(key, level))) return false;
      yield* reader.skipSpace();
      const after = yield* reader.peek();
      if (after !== "," && after !== "}") return false;
      reader.at++;
      if (after === "}") return true;
    }
  }

  *#readMember(key: string, level: number): Parse<boolean> {
    const { reader } = this.#context;
    const { name, arguments: args, id, wrapper } = this.#keys;
    if (args.includes(key) && this.#early === undefined) return yield* this.#readArguments();
    if (wrapper.includes(key) && level < 2 && (yield* reader.peek()) === "{") {
      reader.at++;
      return yield* this.readMembers(level + 1);
    }
    let json = "";
    if (!(yield* readJson(reader, (text) => json += text))) return false;
    const value = valueOf(json);
    if (name.includes(key) && typeof value === "string") this.#setName(value);
    else if (id.includes(key) && (typeof value === "string" || typeof value === "number")) this.#id ??= String(value);
    return true;
  }

  #setName(name: string): void {
    if (this.#name !== undefined) return;
    this.#name = name;
    if (!this.#known || (this.#early !== undefined && this.#context.tools.has(name))) this.#start(name);
  }

  #start(name: string): void {
    const { sink } = this.#context;
    this.#started = true;
    sink.startCall(name, this.#id);
    if (this.#early !== undefined) sink.argumentText(this.#early);
  }

  *#readArguments(): Parse<boolean> {
    const { reader, sink, tools } = this.#context;
    if (this.#name !== undefined && !this.#started && tools.has(this.#name)) this.#start(this.#name);
    const written = this.#started && (yield* reader.peek()) === "{";
    let json = "";
    const sound = yield* readJson(reader, (text) => {
      if (written) sink.argumentText(text);
      else json += text;
    });
    if (written) this.#early = "";
    if (written || !sound) return sound;
    this.#early = unwrapped(json);
    this.#sound = this.#early !== undefined;
    this.#early ??= json;
    if (this.#started) sink.argumentText(this.#early);
    return true;
  }

  /** Ends the call. */
  end(whole: boolean): CallOutcome {
    const { sink, reader } = this.#context;
    if (!this.#started && !this.#known && this.#name !== undefined && (whole || reader.ended)) this.#start(this.#name);
    if (!this.#started) return "none";
    const complete = whole && this.#sound;
    if (complete && this.#early === undefined) sink.argumentText("{}");
    sink.endCall(complete, this.#id);
    return complete ? "whole" : "broken";
  }
}

/** Arguments that were written as text that holds JSON, or as nothing. */
function unwrapped(json: string): string | undefined {
  const value = valueOf(json);
  if (value === null) return "{}";
  if (typeof value === "object") return json;
  if (typeof value !== "string") return undefined;
  if (value.trim() === "") return "{}";
  const inner = valueOf(value);
  return typeof inner === "object" && inner !== null ? value : undefined;
}

function* readValue<T>(
  reader: Reader,
  read: (reader: Reader, give: (text: string) => void) => Parse<boolean>,
): Parse<T | undefined> {
  let json = "";
  if (!(yield* read(reader, (text) => json += text))) return undefined;
  return valueOf(json) as T | undefined;
}

function* takeColon(reader: Reader): Parse<boolean> {
  yield* reader.skipSpace();
  if ((yield* reader.peek()) !== ":") return false;
  reader.at++;
  yield* reader.skipSpace();
  return true;
}
