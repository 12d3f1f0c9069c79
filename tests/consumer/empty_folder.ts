import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { type Finished, runProgram, runtime, runtimeProgram } from "../support/program.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import type { Registries } from "./registries.ts";

/** The program of a user, by the name that the library is imported from. */
export function programFrom(specifier: string): string {
  return `import { defaultModelPath, loadModel } from "${specifier}";

await using model = await loadModel(await defaultModelPath(), { threads: 1 });
const chat = model.chat({ system: "You are a helpful assistant." });
const { text } = await chat.send("What is the capital of France?", { temperature: 0, maxTokens: 32 });
console.log(text);
`;
}

/** A folder of a user's own, outside of the source tree, with empty caches, for which the stand-ins are the registries. */
export class EmptyFolder extends TemporaryFolder {
  readonly #env: Readonly<Record<string, string | undefined>>;

  /** Makes it with these files. */
  constructor(registries: Registries, files: Readonly<Record<string, string>> = {}) {
    super();
    const { jsr, npm } = registries;
    const caches = realpathSync(this.path);
    this.#env = {
      GGML_FFI_LIBRARY_PATH: undefined,
      JSR_URL: jsr,
      NPM_CONFIG_REGISTRY: npm,
      DENO_DIR: join(caches, ".deno"),
      DENO_NO_UPDATE_CHECK: "1",
      BUN_INSTALL_CACHE_DIR: join(caches, ".bun"),
      npm_config_cache: join(caches, ".npm"),
      XDG_DATA_HOME: join(caches, ".data"),
      npm_config_store_dir: join(caches, ".store"),
    };
    this.write(".npmrc", `registry=${npm}\n@jsr:registry=${npm}\n`);
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  /** Writes a file. */
  write(name: string, text: string): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** Runs a program, `deno` and `bun` being those of the tests. */
  run(command: readonly string[], env: Readonly<Record<string, string | undefined>> = {}): Promise<Finished> {
    const [program = "", ...args] = command;
    const path = program === "deno" || program === "bun" ? runtimeProgram(program) : program;
    return runProgram([path, ...args], { cwd: this.path, env: { ...this.#env, ...env } });
  }

  /** Runs a program that must succeed, and returns its standard output. */
  async ran(command: readonly string[], env: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, env);
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }
}

/** Whether this test runs in Deno. */
export const IS_DENO: boolean = runtime === "deno";

/** Whether every way to install, bundle and run is tried, as `npm run test:long` does, or one of each kind. */
const WIDE = process.env["CONSUMER_WIDE"] === "1";

/** A test that the short runs leave out: they never hear of it, since Deno forgets `after` where a test was skipped. */
export const wideTest: (name: string, body: () => Promise<void>) => void = WIDE
  ? (name, body) => void test(name, body)
  : () => {};
