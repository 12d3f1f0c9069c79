// Shows that each kind of bad input gives a typed error and that the process goes on: one line each, and an answer in the end.
// Run: deno run -A tests/model/bad_input.ts, or: bun tests/model/bad_input.ts
import { chmod, copyFile, mkdir, mkdtemp, open, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { defaultModelPath, GgmlError, loadModel, type Model } from "../../mod.ts";
import { locateLibraries } from "../../ffi/library/locate.ts";
import { command, longPrompt, run, runtime, system, testModel } from "./support.ts";

let failed = 0;

/** Runs something that must fail with an error of one class. */
async function expect(what: string, name: string, action: () => unknown): Promise<void> {
  const error = await Promise.resolve().then(action).then(() => undefined, (error: unknown) => error);
  const right = error instanceof GgmlError && error.name === name && error.code !== "" && error.message.length > 20;
  if (!right) failed++;
  console.log(
    `${right ? "ok  " : "BAD "} ${what}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
  );
}

/** A value without a type, as a caller in JavaScript may give it. */
// deno-lint-ignore no-explicit-any
const untyped = (value: unknown): any => value;

const folder = await mkdtemp(join(tmpdir(), "bad-input-"));
const modelPath = await defaultModelPath();

/** A copy of the start of the default model. */
async function cut(name: string, bytes: number, change: (start: Uint8Array) => void = () => {}): Promise<string> {
  const path = join(folder, name);
  await using source = await open(modelPath, "r");
  const start = new Uint8Array(bytes);
  await source.read(start, 0, bytes, 0);
  change(start);
  await writeFile(path, start);
  return path;
}

/** A set of libraries like the one in use, with another manifest. */
async function libraries(name: string, change: (manifest: Record<string, unknown>) => void): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  const { directory } = locateLibraries();
  for (const file of readdirSync(directory)) {
    if (file !== "manifest.json") await symlink(join(directory, file), join(path, file));
  }
  const manifest = JSON.parse(await readFile(join(directory, "manifest.json"), "utf8")) as Record<string, unknown>;
  change(manifest);
  await writeFile(join(path, "manifest.json"), JSON.stringify(manifest));
  return path;
}

async function libraryCases(): Promise<void> {
  const load = (libraryPath: string) => () => loadModel(modelPath, { libraryPath });
  await expect("no libraries", "LibraryNotFoundError", load(join(folder, "nowhere")));
  const older = await libraries("older", (manifest) => manifest.llamaVersion = "0.4.9");
  await expect("wrong library version", "LibraryVersionError", load(older));
  const changed = await libraries("changed", (manifest) => {
    manifest.files = (manifest.files as Record<string, unknown>[]).map((file) => ({ ...file, sha256: "0".repeat(64) }));
  });
  await expect("a library that isn't what its manifest says", "LibraryHashError", load(changed));
  const none = await libraries("none", (manifest) => {
    manifest.files = (manifest.files as Record<string, unknown>[]).filter((file) => file.kind !== "backend");
  });
  await expect("no backend found", "LibraryNotFoundError", load(none));
}

async function fileCases(): Promise<void> {
  const write = async (name: string, content: string | Uint8Array) => {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const view = (bytes: Uint8Array) => new DataView(bytes.buffer);
  await expect("missing file", "ModelNotFoundError", () => loadModel(join(folder, "missing.gguf")));
  await expect("a directory", "ModelNotFoundError", () => loadModel(folder));
  await expect("empty file", "NotGgufError", async () => loadModel(await write("empty.gguf", "")));
  await expect(
    "text file",
    "NotGgufError",
    async () => loadModel(await write("text.gguf", "Once upon a time there was no model.\n")),
  );
  await expect(
    "truncated in the header",
    "GgufTruncatedError",
    async () => loadModel(await cut("header.gguf", 1_000_000)),
  );
  await expect("truncated in the data", "GgufTruncatedError", async () => loadModel(await cut("data.gguf", 5_000_000)));
  await expect(
    "big-endian header",
    "GgufByteOrderError",
    async () => loadModel(await cut("big.gguf", 5000, (bytes) => view(bytes).setUint32(4, 3, false))),
  );
  await expect(
    "version 1",
    "GgufVersionError",
    async () => loadModel(await cut("one.gguf", 5000, (bytes) => view(bytes).setUint32(4, 1, true))),
  );
  await expect(
    "absurd count of tensors",
    "GgufFormatError",
    async () => loadModel(await cut("tensors.gguf", 100_000, (bytes) => view(bytes).setBigUint64(8, 1n << 60n, true))),
  );
  await expect(
    "absurd count of keys",
    "GgufFormatError",
    async () => loadModel(await cut("keys.gguf", 100_000, (bytes) => view(bytes).setBigUint64(16, 1n << 60n, true))),
  );
  await expect("a sound header of an unknown kind of model", "ModelLoadError", async () => {
    const path = join(folder, "unknown.gguf");
    await copyFile(modelPath, path);
    await using file = await open(path, "r+");
    const start = new Uint8Array(1024);
    await file.read(start, 0, start.length, 0);
    const at = new TextDecoder("latin1").decode(start).indexOf("llama", 24);
    await file.write(new TextEncoder().encode("xxxxx"), 0, 5, at);
    await file.sync();
    await loadModel(path);
  });
  await truncate(join(folder, "unknown.gguf"), 0).catch(() => {});
  await expect("an ftp URL", "InvalidArgumentError", () => loadModel(new URL("ftp://localhost/model.gguf")));
}

/** Another user, and Deno's own permissions: in child processes. */
async function permissionCases(): Promise<void> {
  const path = await cut("private.gguf", 64);
  if (process.getuid?.() === 0) {
    // The other user must be able to run the runtime: it gets a copy.
    const program = join(folder, runtime);
    await copyFile(process.execPath, program);
    await chmod(program, 0o755);
    await chmod(folder, 0o755);
    await chmod(path, 0o600);
    const [, ...args] = command(runtime, "tests/model/open_child.ts", [path]);
    const child = await run(
      [program, ...args],
      { HOME: folder, DENO_DIR: join(folder, "deno"), TMPDIR: folder },
      65534,
    );
    report("no permission (another user)", "ModelAccessError", child.stdout || child.stderr);
  } else {
    await chmod(path, 0);
    await expect("no permission", "ModelAccessError", () => loadModel(path));
  }
  const flags = [`--deny-read=${path}`, "--allow-all", "--no-prompt"];
  const denied = await run(command("deno", "tests/model/open_child.ts", [path], flags));
  report("Deno's --deny-read", "PermissionError", denied.stdout || denied.stderr);
}

function report(what: string, name: string, output: string): void {
  const right = output.startsWith(`${name}: `);
  if (!right) failed++;
  console.log(`${right ? "ok  " : "BAD "} ${what}: ${output.trim()}`);
}

async function optionCases(model: Model): Promise<void> {
  const complete = (options: Record<string, unknown>) => () => model.complete("x", untyped(options));
  await expect("prompt too long", "PromptTooLongError", () => model.complete(longPrompt(model, 600)));
  await expect("empty prompt", "EmptyPromptError", () => model.complete(""));
  await expect("n of 0", "InvalidArgumentError", complete({ maxTokens: 0 }));
  await expect("n of -1", "InvalidArgumentError", complete({ maxTokens: -1 }));
  await expect("NaN temperature", "InvalidArgumentError", complete({ temperature: NaN }));
  await expect("topP of 2", "InvalidArgumentError", complete({ topP: 2 }));
  await expect("an option of another library", "InvalidArgumentError", complete({ max_tokens: 5 }));
  await expect("invalid UTF-16 in a prompt", "InvalidArgumentError", () => model.complete("half \ud83d"));
  await expect("invalid UTF-16 in a message", "InvalidArgumentError", () => model.chat().send("\udc00"));
  await expect("invalid UTF-16 in a text", "InvalidArgumentError", () => model.tokenize("\ud83d"));
  await expect(
    "a token out of the vocabulary",
    "InvalidArgumentError",
    () => model.detokenize([model.info.vocabularySize]),
  );
  await expect("a token below zero", "InvalidArgumentError", () => model.detokenize([-1]));
  await expect("a prompt that is no string", "InvalidArgumentError", () => model.complete(untyped(undefined)));
  await expect(
    "a template that doesn't parse",
    "ChatTemplateError",
    () => model.chat({ template: "{% if %}" }).send("x"),
  );
  await expect("a context of 0 tokens", "InvalidArgumentError", () => loadModel(modelPath, { contextSize: 0 }));
  await expect(
    "a context that no memory holds",
    "ContextError",
    () => loadModel(modelPath, { contextSize: 0x7fff_ffff, threads: 1 }),
  );
}

try {
  await libraryCases();
  await fileCases();
  await permissionCases();
  const model = await testModel();
  await optionCases(model);
  const [one, other] = await Promise.all(
    [1, 2].map((seed) => model.complete("Once upon a time", { maxTokens: 4, seed })),
  );
  console.log(`ok   two generations at once: ${JSON.stringify([one?.text, other?.text])}`);
  const { text } = await model.chat({ system }).send("What is the capital of France?", {
    temperature: 0,
    maxTokens: 16,
  });
  await model.dispose();
  await expect("complete after dispose", "DisposedError", () => model.complete("x"));
  await expect("chat after dispose", "DisposedError", () => model.chat());
  await expect("tokenize after dispose", "DisposedError", () => model.tokenize("x"));
  console.log(`after all that, in the same process: ${text}`);
  if (!text.includes("Paris")) failed++;
} finally {
  await rm(folder, { recursive: true });
}
console.log(failed === 0 ? "all right" : `${failed} wrong`);
process.exitCode = failed === 0 ? 0 : 1;
