// Finds from the code which public, documented class or function reaches each function of ggml's headers.
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readModules } from "./check_coverage/code.ts";
import { headerFunctions } from "./check_coverage/functions.ts";
import { publicNames, reachFunctions } from "./check_coverage/reach.ts";
import { reasons } from "./check_coverage/reasons.ts";
import { runCommand } from "./support/command.ts";

const help =
  `Prints for every function of ggml.h, ggml-alloc.h, ggml-backend.h, ggml-opt.h and gguf.h the public class or function of "./ggml" that reaches it, or the
reason why none does. Ends with 1 when a function has neither, or both.

Usage: deno run -A scripts/check_coverage.ts [options]
       bun scripts/check_coverage.ts [options]

  --missing    prints only those that have neither
  -h, --help   this text
`;

/** One function with what was found. */
export interface Coverage {
  readonly name: string;
  readonly header: string;
  readonly reachedBy: readonly string[];
  readonly reason: string | undefined;
}

const root = fileURLToPath(new URL("..", import.meta.url));

/** Each function with the public names that reach it. */
export function coverage(): Coverage[] {
  const functions = headerFunctions(root);
  const entry = join("lib", "ggml", "mod.ts");
  const modules = readModules(root, [entry, join("lib", "worker", "entry.ts")]);
  const reached = reachFunctions(modules, publicNames(modules, entry), new Set(functions.map(({ name }) => name)));
  return functions.map(({ name, header }) => ({
    name,
    header,
    reachedBy: reached.get(name) ?? [],
    reason: Object.hasOwn(reasons, name) ? reasons[name] : undefined,
  }));
}

function main(missing: boolean): number {
  const all = coverage();
  const wrong = all.filter(({ reachedBy, reason }) => (reachedBy.length === 0) === (reason === undefined));
  for (const { name, header, reachedBy, reason } of missing ? wrong : all) {
    const [first, ...others] = [...reachedBy].sort((a, b) => a.length - b.length);
    const by = first === undefined ? "" : `${first}${others.length > 0 ? ` and ${others.length} more` : ""}`;
    process.stdout.write(
      `${header.padEnd(15)} ${name.padEnd(48)} ${by || (reason === undefined ? "MISSING" : `not: ${reason}`)}\n`,
    );
  }
  const count = (holds: (one: Coverage) => boolean): number => all.filter(holds).length;
  process.stdout.write(
    `${all.length} functions: ${count((one) => one.reachedBy.length > 0)} reached, ${
      count((one) => one.reachedBy.length === 0 && one.reason !== undefined)
    } left out for a reason, ${wrong.length} wrong\n`,
  );
  return wrong.length > 0 ? 1 : 0;
}

if (import.meta.main) {
  await runCommand({ help, options: { missing: { type: "boolean" } } }, ({ missing }) => main(missing === true));
}
