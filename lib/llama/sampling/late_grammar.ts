import { setImmediate } from "node:timers";
import type { Native, NativeThread } from "../../../ffi/mod.ts";
import type { GrammarFacts } from "../../gbnf/check.ts";
import { type EncodedSettings, encodeSettings, type SchemaOptions } from "../../json_schema/compile.ts";
import type { JsonValue } from "../../json_schema/json.ts";
import type { Problem } from "../../json_schema/validate.ts";
import { abortable } from "../../support/abortable.ts";
import type { SchemaTasks } from "../../worker/schema_tasks.ts";
import { startThread } from "../../worker/start.ts";
import type { GrammarSettings } from "./grammar.ts";

/** A grammar that takes too long to make or to check on the caller's thread. */
export interface LateGrammar {
  /** Returns it, made on a thread of its own the first time. Rejects with what is wrong with it, and the signal's reason at once. */
  ready(this: void, native: Native, signal: AbortSignal): Promise<GrammarSettings>;
}

/** Returns a grammar that is checked late. */
export function lateGrammar({ source, root, triggers }: Omit<GrammarSettings, keyof GrammarFacts>): LateGrammar {
  return once(async (native, signal) => {
    const facts = await onThread(native, signal, (thread) => thread.run("checkGrammar", { source, root }, { signal }));
    return { ...facts, source, root, triggers };
  });
}

/** A schema that is converted late. */
export class LateSchema {
  /** Its grammar. */
  readonly grammar: LateGrammar;
  #encoded: { readonly native: Native; readonly settings: EncodedSettings } | undefined;

  /** Takes a schema and the options of its conversion; it is read in slices once the grammar is needed. */
  constructor(schema: unknown, options: SchemaOptions) {
    this.grammar = once(async (native, signal) => {
      const settings = await encodeSettings(schema, options, () => pause(signal));
      this.#encoded = { native, settings };
      const { grammar, facts } = await onThread(
        native,
        signal,
        (thread) => thread.run("convertSchema", settings, { signal }),
      );
      return { ...facts, source: grammar, root: "root", triggers: undefined };
    });
  }

  /** Returns the first problem of a value, which was generated with the grammar. */
  async problem(value: JsonValue): Promise<Problem | undefined> {
    if (this.#encoded === undefined) throw new TypeError("unreachable");
    const { native, settings } = this.#encoded;
    const input = { settings, text: JSON.stringify(value) };
    return await onThread(native, undefined, (thread) => thread.run("validateValue", input));
  }
}

function once(make: LateGrammar["ready"]): LateGrammar {
  let made: Promise<GrammarSettings> | undefined;
  return { ready: (native, signal) => made ??= make(native, signal) };
}

/** Does work on a thread that is given back after it; the caller doesn't wait for that when it was aborted. */
async function onThread<T>(
  native: Native,
  signal: AbortSignal | undefined,
  work: (thread: NativeThread<SchemaTasks>) => Promise<T>,
): Promise<T> {
  const thread = await startThread<SchemaTasks>(native);
  try {
    return await abortable(work(thread), signal);
  } finally {
    thread[Symbol.asyncDispose]().catch(() => {});
  }
}

/** Lets timers and others' work run. */
async function pause(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
