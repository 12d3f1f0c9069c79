/** The guards of the code: each place where something is refused, by an error that is thrown or by a function that throws one. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A place where something is refused. */
export interface Guard {
  /** `lib/ggml/graph/graph.ts Graph.get 1`: its file, the declaration that it stands in, and its number there. */
  readonly id: string;
  readonly file: string;
  /** Its line, from 1. */
  readonly line: number;
  /** Where the words that refuse begin and end in the file's text: `throw`, or a function's name. */
  readonly start: number;
  readonly end: number;
  readonly kind: "throw" | "call";
}

const folders = ["base", "cli", "ffi", "lib"];
const declaration = /^(?:export )?(?:default )?(?:abstract )?(?:async )?(function\*?|class|const|let) (\w+)/;
const member = /^ {2}(?:private |protected |static |readonly |override |async |get |set |\*)*(#?\w+)(?:<[^>]*>)?\(/;
const refusal =
  /\bthrow (?=(?:new |await )?[\w.]+\()|(?<![\w#]|(?<!\.\.)\.)(?<!\bthrow (?:await )?)(?:[\w.]+\.)?#?(?:refuse|fail)(?!ed|ing|ure|s\b)\w*(?=\()/g;

/** The guards of a tree, or of some of its files. */
export function readGuards(root: string, wanted: (file: string) => boolean = () => true): Guard[] {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`)
  );
  return files.filter((file) => file.endsWith(".ts") && !file.startsWith("ffi/tables/") && wanted(file)).sort()
    .flatMap((file) => guardsOf(file, readFileSync(join(root, file), "utf8")));
}

/** The guards of one file. */
export function guardsOf(file: string, text: string): Guard[] {
  const code = withoutWords(text);
  const names = enclosing(code);
  const counts = new Map<string, number>();
  return [...code.matchAll(refusal)].flatMap((match) => {
    const start = match.index;
    const line = code.slice(0, start).split("\n").length;
    if (isDefinition(code, start)) return [];
    const name = names[line - 1] ?? "";
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    const kind = match[0].startsWith("throw") ? "throw" : "call";
    return [{ id: `${file} ${name} ${number}`, file, line, start, end: start + match[0].length, kind }];
  });
}

/** Whether a name followed by a parenthesis is the definition of that function, or a signature. */
function isDefinition(code: string, start: number): boolean {
  const lineStart = code.lastIndexOf("\n", start) + 1;
  const before = code.slice(lineStart, start);
  return /function\*? $/.test(before) ||
    /^ {2}(?:private |protected |static |readonly |override |async )*$/.test(before) && isMethod(code, start);
}

function isMethod(code: string, start: number): boolean {
  const line = code.slice(start, code.indexOf("\n", start));
  return /\{\s*$|\($/.test(line) || /\): never/.test(line);
}

/** For each line the declaration or member that it stands in. */
function enclosing(code: string): string[] {
  let [kind, outer, inner] = ["", "", ""];
  return code.split("\n").map((line) => {
    const top = declaration.exec(line);
    if (top !== null) [kind, outer, inner] = [top[1] ?? "", top[2] ?? "", ""];
    const method = kind === "class" ? member.exec(line)?.[1] : undefined;
    if (method !== undefined) inner = `.${method}`;
    return outer + inner;
  });
}

/** The text with blanks in place of comments and of what stands in quotes: positions stay as they are. */
function withoutWords(text: string): string {
  const blank = (part: string): string => part.replaceAll(/[^\n]/g, " ");
  return text.replaceAll(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/(?![*/ ])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*(?=[.,;)\s])/g,
    blank,
  );
}
