/** A value as the trace shows it. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "function") return "function";
  if (typeof value !== "object" || value === null) return String(value);
  try {
    if (Array.isArray(value)) return `[${Array.from(value.slice(0, 4), shown).join(", ")}]`;
    const name = Object.getPrototypeOf(value)?.constructor?.name ?? "null";
    if (name !== "Object") return ArrayBuffer.isView(value) ? `${name}(${value.byteLength} bytes)` : name;
    const entries = Object.entries(value).slice(0, 6);
    return `{ ${
      entries.map(([key, one]) => `${key}: ${typeof one === "object" ? nested(one) : shown(one)}`).join(", ")
    } }`;
  } catch {
    return "an odd object";
  }
}

function nested(value: object | null): string {
  if (value === null) return "null";
  return Array.isArray(value) ? `[${value.length}]` : Object.getPrototypeOf(value)?.constructor?.name ?? "null";
}
