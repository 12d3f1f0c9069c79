/**
 * Leaving out of a schema what a grammar can't express.
 *
 * @module
 */

import { isArray, isObject, type JsonObject, type JsonValue, type PlainSchema } from "./json.ts";
import { escapePointer } from "./pointer.ts";
import { supportedKeywords } from "./keywords.ts";

/** A keyword that a grammar leaves out; values have to be validated against it afterwards. */
export interface LoosenedKeyword {
  /** The path of the keyword in the schema, as a JSON Pointer; the empty string is the whole schema. */
  readonly path: string;
  /** Why no grammar can express it. */
  readonly reason: string;
}

/** Keywords inside which a wider schema makes the whole one narrower: they are left out as a whole. */
const contravariant = new Set(["not", "if", "oneOf", "then", "else"]);

/** Returns a schema without the keyword at a path or the outermost one around it that has to go with it; `undefined` when there is none. */
export function withoutKeyword(schema: PlainSchema, path: string): { schema: PlainSchema; path: string } | undefined {
  const keys = path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const objects: JsonObject[] = [];
  let value: JsonValue = schema;
  for (const key of keys) {
    if (!isObject(value) && !isArray(value)) return undefined;
    if (isObject(value) && !Object.hasOwn(value, key)) break;
    objects.push(value as JsonObject);
    value = (value as JsonObject)[key] as JsonValue;
  }
  let depth = objects.findIndex((object, at) => isObject(object) && contravariant.has(keys[at] ?? ""));
  // A path to a schema rather than a keyword: its keywords go one by one, the last first.
  if (
    depth < 0 && objects.length === keys.length && isObject(value) && !supportedKeywords.includes(keys.at(-1) ?? "")
  ) {
    const last: string | undefined = Object.keys(value).at(-1);
    if (last === undefined) return undefined;
    objects.push(value);
    keys.push(last);
  }
  if (depth < 0) depth = objects.length - 1;
  const key = keys[depth];
  if (key === undefined || !isObject(objects[depth])) return undefined;
  const gone = key === "then" || key === "else" ? ["if", "then", "else"] : [key];
  const { [key]: _, ...rest } = objects[depth] as Record<string, JsonValue>;
  for (const one of gone) delete rest[one];
  let result: JsonValue = rest;
  for (let at = depth - 1; at >= 0; at--) {
    const around: unknown = objects[at];
    const name = keys[at] as string;
    result = Array.isArray(around) ? around.with(Number(name), result) : { ...(around as JsonObject), [name]: result };
  }
  return {
    schema: result as PlainSchema,
    path: keys.slice(0, depth + 1).map((one) => `/${escapePointer(one)}`).join(""),
  };
}
