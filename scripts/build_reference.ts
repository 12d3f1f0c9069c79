// Builds the reference backend and prints its path.
import process from "node:process";
import { ensureReference } from "./build/reference.ts";
import { runCommand } from "./support/command.ts";

const help =
  `Builds csrc/reference_backend, the slow but plain backend that the tests compare with, unless the cache has it. Prints its path.

Usage: deno run -A scripts/build_reference.ts [options]

  --target NAME   the target (default: this machine's); its libraries must be built
  -h, --help      this text
`;

await runCommand({ help, options: { target: { type: "string" } } }, async ({ target }) => {
  process.stdout.write(`${await ensureReference(target)}\n`);
});
