import { JinjaSyntaxError } from "../errors.ts";

const simple: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The text between the quotes of a literal, with Python's escapes read. Throws {@linkcode JinjaSyntaxError} for one that is cut off. */
export function unescapeString(body: string, line: number): string {
  if (!body.includes("\\")) return body;
  return body.replace(
    /\\(?:x([\da-fA-F]{0,2})|u([\da-fA-F]{0,4})|U([\da-fA-F]{0,8})|N(\{[^}]*\})?|([0-7]{1,3})|([\s\S]))/g,
    (found: string, x?: string, u?: string, U?: string, named?: string, octal?: string, other?: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if (x !== undefined) return code(x, 2, "x", line);
      if (u !== undefined) return code(u, 4, "u", line);
      if (U !== undefined) return code(U, 8, "U", line);
      if (found.startsWith("\\N")) {
        throw new JinjaSyntaxError(`characters by name (\\N${named ?? ""}) aren't supported`, line);
      }
      return simple[other ?? ""] ?? found;
    },
  );
}

function code(digits: string | undefined, length: number, kind: string, line: number): string {
  const value = Number.parseInt(digits ?? "", 16);
  if (digits?.length !== length || value > 0x10ffff) {
    throw new JinjaSyntaxError(`truncated \\${kind} escape`, line);
  }
  return String.fromCodePoint(value);
}
