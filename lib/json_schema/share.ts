import { isArray, isObject, type JsonObject, type JsonValue } from "./json.ts";

/**
 * Makes equal parts of plain data the same object, so that what is found out about one is known of all. Parts that refer to others, or are referred to by
 * a name (keywords that begin with `$`), and those around them stay as they are: what they mean depends on where they stand.
 */
export function shareEqual(root: JsonObject): JsonObject {
  const shared = new Sharing().value(root);
  return isObject(shared.value) ? shared.value : root;
}

/** A value, and a text that only equal ones have; none when it can't be shared. */
interface Shared {
  readonly value: JsonValue;
  readonly key: string | undefined;
}

class Sharing {
  readonly #known = new Map<string, Shared>();
  readonly #done = new Map<JsonValue, Shared>();

  value(value: JsonValue): Shared {
    if (!isArray(value) && !isObject(value)) return { value, key: JSON.stringify(value) };
    let shared = this.#done.get(value);
    if (shared === undefined) this.#done.set(value, shared = isArray(value) ? this.#array(value) : this.#object(value));
    return shared;
  }

  #array(array: readonly JsonValue[]): Shared {
    const items = array.map((item) => this.value(item));
    return this.#whole(items.map(({ value }) => value), items.map(({ key }) => key), "[");
  }

  #object(object: JsonObject): Shared {
    const result: Record<string, JsonValue> = Object.create(null);
    const keys: (string | undefined)[] = [];
    for (const [name, part] of Object.entries(object)) {
      const { value, key } = this.value(part);
      result[name] = value;
      keys.push(key === undefined || name.startsWith("$") ? undefined : `${JSON.stringify(name)}:${key}`);
    }
    return this.#whole(result, keys, "{");
  }

  #whole(value: JsonValue, keys: readonly (string | undefined)[], kind: string): Shared {
    if (keys.includes(undefined)) return { value, key: undefined };
    const text = kind + keys.join();
    let known = this.#known.get(text);
    if (known === undefined) this.#known.set(text, known = { value, key: `#${this.#known.size}` });
    return known;
  }
}
