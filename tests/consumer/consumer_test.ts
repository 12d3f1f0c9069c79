import { build } from "esbuild";
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import { ConsumerProject } from "./project.ts";

const IS_DENO = basename(process.execPath).startsWith("deno");
/** How a program is run in the runtime of this test. */
const RUN = IS_DENO ? [process.execPath, "run", "-A"] : [process.execPath];

/** A test for one runtime. The other doesn't skip it but never hears of it: Deno forgets `after` where a test was skipped. */
function testIn(runtime: "deno" | "bun", name: string, body: () => void): void {
  if ((runtime === "deno") === IS_DENO) test(name, body);
}

let project: ConsumerProject;
before(() => void (project = new ConsumerProject()));
after(() => project[Symbol.dispose]());

testIn("deno", "the package has its types", () => {
  project.run([process.execPath, "check", "main.ts"]);
});

test("a program runs as it is", () => {
  assert.match(project.run([...RUN, "main.ts"]), /Paris/);
});

test("a program bundled into one file by esbuild runs", async () => {
  await bundle();
  assert.match(project.run([...RUN, "bundle.mjs"]), /Paris/);
});

testIn("bun", "a program made one file by bun build --compile runs", () => {
  project.run([process.execPath, "build", "--compile", "main.ts", "--outfile", "program"]);
  assert.match(project.run([join(project.folder, "program")]), /Paris/);
});

testIn("bun", "a compiled program finds the libraries in a folder beside it", () => {
  using elsewhere = new Elsewhere();
  const program = join(elsewhere.folder, "program");
  const target = `${process.arch === "x64" ? "x86_64" : "aarch64"}-linux-gnu`;
  project.run([process.execPath, "build", "--compile", "main.ts", "--outfile", program]);
  cpSync(platformFolder(), join(elsewhere.folder, "native", target), { recursive: true });
  assert.match(project.run([program], { cwd: elsewhere.folder }), /Paris/);
});

test("a bundle that was moved away from its packages finds the libraries by GGML_FFI_LIBRARY_PATH", async () => {
  await bundle();
  using elsewhere = new Elsewhere();
  const moved = join(elsewhere.folder, "bundle.mjs");
  cpSync(join(project.folder, "bundle.mjs"), moved);
  const run = (env: Record<string, string>) => project.run([...RUN, moved], { cwd: elsewhere.folder, env });
  assert.throws(() => run({}), /no libraries for .* were found[\s\S]*GGML_FFI_LIBRARY_PATH/);
  assert.match(run({ GGML_FFI_LIBRARY_PATH: platformFolder() }), /Paris/);
});

/** Makes one file of the program and all that it imports. */
async function bundle(): Promise<void> {
  await build({
    absWorkingDir: project.folder,
    entryPoints: ["main.ts"],
    bundle: true,
    outfile: "bundle.mjs",
    format: "esm",
    platform: "node",
    target: "node22",
  });
}

/** The folder of the platform's package. */
function platformFolder(): string {
  const scope = join(project.folder, "node_modules", "@ggml-ffi");
  return realpathSync(join(scope, `linux-${process.arch}-gnu`));
}

/** A folder from which no packages are seen. */
class Elsewhere implements Disposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "ggml-ffi-elsewhere-")));

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}
