import { isObject, type JsonValue, type PlainSchema } from "./json.ts";
import { notASchema, type PartBuilder, readSchema, type SchemaBuilder } from "./read.ts";

/**
 * A schema as texts that another thread makes it of again: each is a list of JSON with an array or object for each entry, whose parts are values or, as an
 * array of one number, the place of an entry before.
 */
export interface EncodedSchema {
  /** The schema itself: a value or the place of an entry, as JSON. */
  readonly root: string;
  /** The texts. */
  readonly chunks: readonly string[];
}

/** Entries of a text. */
const CHUNK = 4096;
/** Milliseconds of work between two pauses. */
const SLICE_MS = 4;

/** Encodes a schema in slices: `pause` lets others work between them. Throws as `plainSchema` does, and what `pause` throws. */
export async function encodeSchema(schema: unknown, pause: () => Promise<void>): Promise<EncodedSchema> {
  const builder = new TextBuilder();
  const reading = readSchema(schema, builder);
  let began = performance.now();
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return builder.end(value);
    if (performance.now() - began < SLICE_MS) continue;
    await pause();
    began = performance.now();
  }
}

class TextBuilder implements SchemaBuilder<string> {
  readonly #chunks: string[] = [];
  #lines: string[] = [];
  #count = 0;

  atom(value: null | boolean | number | string): string {
    return Object.is(value, -0) ? "-0" : JSON.stringify(value);
  }

  begin(isArray: boolean): PartBuilder<string> {
    const [open, close] = isArray ? ["[", "]"] : ["{", "}"];
    let text = "";
    const add = (key: string, part: string): void => {
      const before = text === "" ? open : ",";
      text += isArray ? before + part : `${before}${JSON.stringify(key)}:${part}`;
    };
    return { add, end: () => this.#add((text === "" ? open : text) + close) };
  }

  end(root: string): EncodedSchema {
    this.#flush();
    return { root, chunks: this.#chunks };
  }

  #add(line: string): string {
    this.#lines.push(line);
    if (this.#lines.length === CHUNK) this.#flush();
    return `[${this.#count++}]`;
  }

  #flush(): void {
    this.#chunks.push(`[${this.#lines.join()}]`);
    this.#lines = [];
  }
}

/** Returns the schema that {@linkcode encodeSchema} was given. Throws {@linkcode JsonSchemaError} for what isn't one, such as a `toJSON` that gives a number. */
export function decodeSchema({ root, chunks }: EncodedSchema): PlainSchema {
  const made: JsonValue[] = [];
  const part = (value: JsonValue): JsonValue =>
    Array.isArray(value) ? made[(value as readonly number[])[0] as number] as JsonValue : value;
  for (const chunk of chunks) {
    for (const entry of JSON.parse(chunk) as JsonValue[]) made.push(rebuilt(entry, part));
  }
  const schema = part(JSON.parse(root) as JsonValue);
  if (isObject(schema) || typeof schema === "boolean") return schema;
  throw notASchema(schema);
}

function rebuilt(entry: JsonValue, part: (value: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(entry)) return (entry as readonly JsonValue[]).map(part);
  if (!isObject(entry)) return entry;
  const result: Record<string, JsonValue> = Object.create(null);
  for (const [key, value] of Object.entries(entry)) result[key] = part(value);
  return result;
}
