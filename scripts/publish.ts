// Publishes what scripts/pack.ts made, in the order in which packages need each other.
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { denoProgram } from "./bootstrap/packages.mjs";
import { publishOrder } from "./pack/publish_order.ts";
import { runCommand } from "./support/command.ts";
import { SetupError } from "./support/errors.ts";
import { runAttached } from "./support/exec.ts";
import { ROOT } from "./support/root.ts";

const help =
  `Publishes the packages that \`npm run pack -- --all\` made: those of the platforms first, then what depends on them, JSR last. A package whose version the
registry has is an error of the registry's, which ends it. With --dry-run nothing is published.

Usage: npm run release:publish -- [options]

  --folder FOLDER   the packages (default: .tmp/packages)
  --dry-run         each step but the last: what npm and JSR would get is checked and listed
  -h, --help        this text
`;

const options = { folder: { type: "string" }, "dry-run": { type: "boolean" } } as const;

await runCommand({ help, options }, async (values) => {
  const folder = resolve(values.folder ?? join(ROOT, ".tmp", "packages"));
  const dry = values["dry-run"] === true ? ["--dry-run"] : [];
  // Only a CI that npm knows can say where a package was built.
  const provenance = process.env["GITHUB_ACTIONS"] === "true" && dry.length === 0 ? ["--provenance"] : [];
  for (const tarball of publishOrder(readdirSync(folder))) {
    await publish("npm", ["publish", join(folder, tarball), "--access", "public", ...provenance, ...dry]);
  }
  process.chdir(join(folder, "jsr"));
  await publish(denoProgram(ROOT), ["publish", "--allow-dirty", ...dry]);
});

async function publish(program: string, args: readonly string[]): Promise<void> {
  const code = await runAttached(program, args);
  if (code !== 0) {
    throw new SetupError(`${program} ${args.join(" ")} ended with ${code}; what is before it was published`);
  }
}
