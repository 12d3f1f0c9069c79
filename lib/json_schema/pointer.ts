/** Escapes a key for a JSON Pointer. */
export function escapePointer(key: string): string {
  if (!/[~/]/.test(key)) return key;
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
