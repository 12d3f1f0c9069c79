/** The reproducers of docs/upstream.md. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/program.ts";

/** A fault of upstream. */
export interface Fault {
  /** Its heading. */
  readonly name: string;
  /** How the reproducer ends: signals, or what it prints; then words of the error output. */
  readonly ends: string;
  /** The paths of this tree where it is worked around. */
  readonly files: readonly string[];
  /** The whole program, but for the paths that it takes. */
  readonly program: string;
  /** Whether it needs a speech model and speech. */
  readonly hears: boolean;
}

/** Reads the faults. */
export function readFaults(): Fault[] {
  const text = readFileSync(join(ROOT, "docs/upstream.md"), "utf8");
  const [intro = "", ...libraries] = text.split("\n## Without a reproducer")[0]!.split(/^## /m);
  const prelude = codeOf(intro);
  return libraries.flatMap((library) => {
    const [head = "", ...faults] = library.split(/^### /m);
    return faults.map((fault): Fault => ({
      name: fault.split("\n")[0] ?? "",
      ends: /^- Ends: (.*)$/m.exec(fault)?.[1] ?? "",
      files: [...(/^- Here: (.*)$/m.exec(fault)?.[1] ?? "").matchAll(/`((?:lib|ffi|csrc)\/[^`]*)`/g)]
        .map(([, file = ""]) => file),
      program: `${prelude}\n${codeOf(head)}\n${codeOf(fault)}`,
      hears: head.includes("SPEECH_MODEL"),
    }));
  });
}

function codeOf(text: string): string {
  return /```ts ignore\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
}
