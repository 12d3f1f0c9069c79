// Lists every public name of every entry point with the first sentence of its doc comment.
import process from "node:process";
import { entryPoints, firstSentence, publicNames } from "./public_names/read.ts";
import { UsageError } from "./support/errors.ts";
import { runCommand } from "./support/command.ts";

const help =
  `Lists every public name with the first sentence of its doc comment: of all entry points, or of those that are named (such as ./ggml).

Usage: deno run -A scripts/public_names.ts [options] [ENTRY…]

  --members    members of classes and interfaces, too
  -h, --help   this text
`;

await runCommand({ help, options: { members: { type: "boolean" } }, allowPositionals: true }, ({ members }, named) => {
  const known = Object.keys(entryPoints());
  const unknown = named.find((entry) => !known.includes(entry));
  if (unknown !== undefined) throw new UsageError(`there is no entry point ${unknown}; there are: ${known.join(", ")}`);
  for (const entry of named.length > 0 ? named : known) {
    process.stdout.write(`\n${entry}\n`);
    for (const one of publicNames(entry)) {
      process.stdout.write(`  ${one.kind} ${one.name}: ${firstSentence(one.doc)}\n`);
      if (members !== true) continue;
      for (const { name, doc } of one.members) process.stdout.write(`    .${name}: ${firstSentence(doc)}\n`);
    }
  }
});
