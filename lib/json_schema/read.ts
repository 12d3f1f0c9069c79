import { GgmlError, JsonSchemaError, SchemaTooComplexError } from "../errors.ts";
import { isArray, show } from "../../base/check.ts";
import { messageOf } from "../../base/error.ts";
import { escapePointer } from "./pointer.ts";
import { countWork, TooMuchWork } from "./work.ts";

/** Parts of a schema, each counted once however often it is used. */
const MAX_PARTS = 200_000;
/** Values between two pauses. */
const PAUSE_VALUES = 128;
/** What it costs to read and convert an object or array, and any other value. */
const PART_WORK = 5;
const ATOM_WORK = 0.5;

/** Makes something out of the parts of a schema, from the innermost on. */
export interface SchemaBuilder<T> {
  /** Makes one of a value without parts. */
  atom(value: null | boolean | number | string): T;
  /** Begins an array or object, whose parts are added in order. */
  begin(isArray: boolean): PartBuilder<T>;
}

/** An array or object that is being made. */
export interface PartBuilder<T> {
  /** Adds a part; in an array the key is empty. */
  add(key: string, part: T): void;
  /** Makes it. */
  end(): T;
}

/**
 * Reads a schema in steps, each object once however often it is used. Throws {@linkcode JsonSchemaError} for anything that isn't a schema or can't be
 * written as JSON, and {@linkcode SchemaTooComplexError} for a schema that is too large or nested too deep.
 */
export function* readSchema<T>(schema: unknown, builder: SchemaBuilder<T>): Generator<void, T> {
  if (typeof schema === "boolean") return builder.atom(schema);
  if (typeof schema !== "object" || schema === null || isArray(schema)) throw notASchema(schema);
  try {
    return yield* new Reader(builder).read(schema, "", "");
  } catch (cause) {
    if (cause instanceof GgmlError || cause instanceof TooMuchWork) throw cause;
    if (cause instanceof RangeError) {
      throw new SchemaTooComplexError("the schema is nested too deep; make it flatter", { cause });
    }
    throw new JsonSchemaError(`the schema can't be read (${messageOf(cause)}); give plain data`, {
      cause,
      expected: "plain data",
    });
  }
}

/** The error for what is no schema at all. */
export function notASchema(value: unknown): JsonSchemaError {
  return new JsonSchemaError(`the schema is ${show(value)}; give a JSON Schema, which is an object, true or false`, {
    value,
    expected: "an object, true or false",
  });
}

class Reader<T> {
  readonly #builder: SchemaBuilder<T>;
  /** By the base address they stand under: equal references mean different things under different ones. */
  readonly #known = new Map<string, Map<object, T>>();
  readonly #active = new Set<object>();
  #parts = 0;
  #values = 0;

  constructor(builder: SchemaBuilder<T>) {
    this.#builder = builder;
  }

  *read(value: unknown, path: string, base: string): Generator<void, T> {
    if (++this.#values % PAUSE_VALUES === 0) yield;
    if (value === null || typeof value === "boolean" || typeof value === "string") return this.#builder.atom(value);
    if (typeof value === "number") return this.#builder.atom(Number.isFinite(value) ? value : null);
    if (typeof value !== "object") return this.#refuse(value, path);
    const id = (value as Record<string, unknown>)["$id"];
    const own = typeof id === "string" ? `${base} ${id}` : base;
    let known = this.#known.get(own);
    if (known === undefined) this.#known.set(own, known = new Map());
    const made = known.get(value);
    if (made !== undefined) return made;
    if (this.#active.has(value)) {
      throw new JsonSchemaError(
        `the schema can't be written as JSON: its ${path} holds itself; refer to it by $ref`,
        { path, expected: "a schema without circles" },
      );
    }
    if (++this.#parts > MAX_PARTS) {
      throw new SchemaTooComplexError(`the schema has more than ${MAX_PARTS} parts; make it smaller`, { path });
    }
    countWork(PART_WORK);
    this.#active.add(value);
    const read = yield* this.#readObject(value, path, own);
    this.#active.delete(value);
    known.set(value, read);
    return read;
  }

  *#readObject(value: object, path: string, base: string): Generator<void, T> {
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") {
      const json: unknown = toJSON.call(value, "");
      return json === value ? this.#refuse(value, path) : yield* this.read(json, path, base);
    }
    if (isArray(value)) return yield* this.#readArray(value, path, base);
    const keys = Object.keys(value);
    countWork(keys.length * ATOM_WORK);
    const made = this.#builder.begin(false);
    for (const key of keys) {
      const part = (value as Record<string, unknown>)[key];
      if (part !== undefined) made.add(key, yield* this.read(part, `${path}/${escapePointer(key)}`, base));
    }
    return made.end();
  }

  *#readArray(value: readonly unknown[], path: string, base: string): Generator<void, T> {
    countWork(value.length * ATOM_WORK);
    const made = this.#builder.begin(true);
    for (let index = 0; index < value.length; index++) {
      made.add("", yield* this.read(value[index], `${path}/${index}`, base));
    }
    return made.end();
  }

  #refuse(value: unknown, path: string): never {
    throw new JsonSchemaError(
      `the schema can't be written as JSON: its ${path || "root"} is ${show(value)}; give plain data`,
      { path, value, expected: "null, a boolean, a number, a string, an array or an object" },
    );
  }
}
