import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DENO = ["deno", "deno.exe"].map((name) => join(ROOT, "node_modules", "deno", name)).find(existsSync) ?? "deno";

/** What a user writes: the library by its name, and nothing of its insides. */
export const PROGRAM = `import { defaultModelPath, loadModel } from "@ggml-ffi/ggml-ffi";

await using model = await loadModel(await defaultModelPath(), { threads: 1 });
const chat = model.chat({ system: "You are a helpful assistant." });
const { text } = await chat.send("What is the capital of France?", { temperature: 0, maxTokens: 32 });
console.log(text);
`;

/** A project of a user's own, outside the source tree, with the packages installed from their tarballs and without a network. */
export class ConsumerProject implements Disposable {
  /** Its folder. */
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), "ggml-ffi-consumer-")));

  constructor() {
    const packages = join(this.folder, "packages");
    mkdirSync(packages);
    const made = this.run([DENO, "run", "-A", join(ROOT, "scripts", "pack.ts"), "--out", packages]).trim().split("\n");
    writeFileSync(join(this.folder, "package.json"), '{ "private": true, "type": "module" }\n');
    writeFileSync(join(this.folder, "main.ts"), PROGRAM);
    this.run(["npm", "install", "--offline", "--no-audit", "--no-fund", ...made]);
    rmSync(packages, { recursive: true });
  }

  /** Runs a program in the project's folder, as a user would: nothing points it to the source tree. */
  run(command: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): string {
    const [program = "", ...args] = command;
    const { GGML_FFI_LIBRARY_PATH: _, ...rest } = process.env;
    return execFileSync(program, args, {
      cwd: options.cwd ?? this.folder,
      env: { ...rest, DENO_NO_UPDATE_CHECK: "1", ...options.env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
