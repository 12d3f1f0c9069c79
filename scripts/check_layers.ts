// Checks that imports go one way through the layers and never in a circle; prints each chain that does otherwise.
import process from "node:process";
import { readModules } from "./check_layers/imports.ts";
import { ROOTS, violations } from "./check_layers/rules.ts";
import { runCommand } from "./support/command.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Checks the layers: which folder imports which, circles of value imports, and that ./gguf and ./schema reach no native code. Prints each violation with its
chain of imports, and ends with 1 when there is one.

Usage: deno run -A scripts/check_layers.ts [FOLDER]

  -h, --help   this text
`;

await runCommand({ help, allowPositionals: true }, (_, [root = ROOT]) => {
  const modules = readModules(root, ROOTS);
  const found = violations(modules);
  for (const one of found) process.stdout.write(`${one}\n\n`);
  process.stdout.write(`${modules.size} modules, ${found.length} violations of the layers\n`);
  return found.length > 0 || modules.size === 0 ? 1 : 0;
});
