// npm run docs: the API reference as HTML.
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { denoProgram } from "./bootstrap/packages.mjs";
import { entryPoints } from "./public_names/read.ts";
import { runCommand } from "./support/command.ts";
import { run } from "./support/exec.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Writes the reference of all entry points as HTML with a search, out of the comments in the code. Prints its first page.

Usage: npm run docs -- [options]

  --out FOLDER   where it is written (default: .tmp/reference)
  -h, --help     this text
`;

await runCommand({ help, options: { out: { type: "string" } } }, async (values) => {
  const out = resolve(values.out ?? join(ROOT, ".tmp", "reference"));
  rmSync(out, { recursive: true, force: true });
  const files = Object.values(entryPoints());
  await run(denoProgram(ROOT), ["doc", "--html", "--name=ggml-ffi", `--output=${out}`, ...files], { cwd: ROOT });
  console.log(join(out, "index.html"));
});
