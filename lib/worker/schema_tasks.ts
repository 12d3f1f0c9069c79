import type { TaskContext } from "../../ffi/thread/task.ts";
import { checkGbnf, type GrammarFacts } from "../gbnf/check.ts";
import { compileEncoded, type EncodedSettings, encodedValidator } from "../json_schema/compile.ts";
import type { JsonValue } from "../json_schema/json.ts";
import type { Problem } from "../json_schema/validate.ts";
import { stoppable } from "../json_schema/work.ts";

/** A schema's grammar, checked. */
export interface SchemaGrammar {
  /** The grammar. */
  readonly grammar: string;
  /** What the check found. */
  readonly facts: GrammarFacts;
}

/** A grammar to be checked. */
export interface GrammarInput {
  /** The grammar. */
  readonly source: string;
  /** Its first rule. */
  readonly root: string;
}

/** A value to be validated. */
export interface ValueInput {
  /** The schema. */
  readonly settings: EncodedSettings;
  /** The value as JSON. */
  readonly text: string;
}

/** Conversions that take too long for a thread with an event loop. */
export const schemaTasks = {
  /** Converts a schema to a grammar. */
  convertSchema: (settings: EncodedSettings, { throwIfCancelled }: TaskContext): SchemaGrammar =>
    stoppable(throwIfCancelled, () => {
      const { grammar } = compileEncoded(settings);
      return { grammar, facts: checkGbnf(grammar) };
    }),
  /** Checks a grammar. */
  checkGrammar: ({ source, root }: GrammarInput): GrammarFacts => checkGbnf(source, root),
  /** Validates a value. */
  validateValue: ({ settings, text }: ValueInput): Problem | undefined =>
    encodedValidator(settings)(JSON.parse(text) as JsonValue),
} as const;

/** The type of {@linkcode schemaTasks}. */
export type SchemaTasks = typeof schemaTasks;
