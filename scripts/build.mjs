// npm run build: builds the libraries of any target.
import process from "node:process";
import { runWith } from "./setup/command.mjs";
import { bringLibraries } from "./setup/libraries.mjs";
import { bringTools } from "./setup.mjs";

const help = `Builds the libraries of one target, unless the cache has them, and links native/<target> to them.

Usage: npm run build -- [options]

  --target NAME      the target (default: this machine's), see build/targets.zig
  --variants LIST    CPU variants: all, native (baseline and this machine's best) or a list such as x64,zen4 (default: native, for another architecture all)
  --set NAME=VALUE   any other option of build.zig, such as optimize=safe or amx=false; may be repeated
  -h, --help         this text
`;

const options = {
  target: { type: "string" },
  variants: { type: "string" },
  set: { type: "string", multiple: true },
};

await runWith(help, options, async (values) => {
  const folder = await bringLibraries(await bringTools(), { ...values, settings: values.set });
  process.stdout.write(`${folder}\n`);
});
