import type { ArgumentType } from "../argument_type.ts";
import { valueOf } from "./json.ts";
import { pythonValue } from "./python.ts";

/** JSON text of an argument that markup holds without quotes: JSON or Python where the schema allows what it means, else text. */
export function argumentJson(text: string, type: ArgumentType): string {
  if (type.isText) return JSON.stringify(text);
  const json = valueOf(text) === undefined ? pythonValue(text) : text.trim();
  return json !== undefined && type.prefers(valueOf(json)) ? json : JSON.stringify(text);
}
