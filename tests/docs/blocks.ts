/** The code blocks of the documents. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/program.ts";

/** A block of code in a document. */
export interface Block {
  /** The language behind the fence, with what follows it: `ts`, `sh`. */
  readonly language: string;
  readonly code: string;
  /** Its first line, from 1. */
  readonly line: number;
}

/** The documents that users read: the README and all of docs/. */
export function documents(): string[] {
  const docs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md")).map((name) => `docs/${name.replaceAll("\\", "/")}`);
  return ["README.md", ...docs.sort()];
}

/** Returns the blocks of a document. */
export function blocksOf(document: string): Block[] {
  const blocks: Block[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, text] of readFileSync(join(ROOT, document), "utf8").split("\n").entries()) {
    const fence = /^ *```(.*)$/.exec(text);
    if (fence === null) open?.lines.push(text);
    else if (open === undefined) open = { language: fence[1] ?? "", line: index + 2, lines: [] };
    else {
      blocks.push({ language: open.language, code: open.lines.join("\n"), line: open.line });
      open = undefined;
    }
  }
  return blocks;
}
