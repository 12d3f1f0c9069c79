import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import test, { after, before } from "node:test";
import { defaultModelPath } from "../../mod.ts";
import { jfkPath, tinyEnglishPath } from "../whisper/files.ts";
import { runtimeProgram } from "../support/program.ts";
import { EmptyFolder, IS_DENO, programFrom, wideTest } from "./empty_folder.ts";
import { packedTree } from "./packed.ts";
import { Registries } from "./registries.ts";

const PACKAGE = "@ggml-ffi/ggml-ffi";

/** A task and the least that it needs in Deno, as docs/permissions.md has it. */
interface Task {
  readonly name: string;
  /** The body of a program; `model`, `audio` and `speech` are paths, `folder` is one of its own, and it ends with `done`. */
  readonly program: string;
  /** The flags that it can't do without; `LIBRARIES`, `MODEL` and the like stand for paths. */
  readonly flags: readonly string[];
}

const OPEN = ["--allow-ffi", "--allow-read=LIBRARIES"];
const tasks: readonly Task[] = [
  { name: "a grammar of a schema", program: `await import("${PACKAGE}/schema");`, flags: [] },
  {
    name: "the header of a GGUF file",
    program: `await (await import("${PACKAGE}/gguf")).readGgufHeader(model);`,
    flags: ["--allow-read=MODEL"],
  },
  {
    name: "a GGUF file that is written",
    program: `const { writeGguf } = await import("${PACKAGE}/gguf");
      await writeGguf(folder + "/new.gguf", { metadata: { "general.architecture": "none" }, tensors: [] }, { overwrite: true });`,
    flags: ["--allow-read=FOLDER", "--allow-write=FOLDER"],
  },
  {
    name: "tensors",
    program: `const { Context, ops, computeSync, allocateContext } = await import("${PACKAGE}/ggml");
      await (await import("${PACKAGE}/ffi")).open();`,
    flags: OPEN,
  },
  {
    name: "an answer of a model",
    program: `await using llama = await (await import("${PACKAGE}")).loadModel(model, { threads: 1, contextSize: 256 });
      await llama.chat().send("Hello", { maxTokens: 2 });`,
    flags: [...OPEN, "--allow-read=MODEL"],
  },
  {
    name: "the default model",
    program: `const { defaultModelPath } = await import("${PACKAGE}"); await defaultModelPath();`,
    flags: ["--allow-read=CACHE", "--allow-env=GGML_FFI_CACHE,XDG_CACHE_HOME,HOME"],
  },
  {
    name: "speech in a WAV file",
    program: `await using whisper = await (await import("${PACKAGE}/whisper")).loadWhisper(speech, { threads: 1 });
      await whisper.transcribe(audio, { duration: 1 });`,
    flags: [...OPEN, "--allow-read=SPEECH", "--allow-read=AUDIO"],
  },
  {
    name: "a GGUF file on a server",
    program: `await (await import("${PACKAGE}/gguf")).GgufFile.open(new URL("/model.gguf", registry)).catch((error) => {
      if (error.code === "PERMISSION") throw error; });`,
    flags: ["--allow-net=HOST"],
  },
  {
    name: "devices of an RPC server",
    program: `await (await import("${PACKAGE}/ggml")).connectRpc("127.0.0.1:1").catch((error) => {
      if (error.code === "PERMISSION") throw error; });`,
    flags: ["--allow-net=127.0.0.1:1"],
  },
  {
    name: "a model that is downloaded",
    // What the server lacks is looked for all the same.
    program:
      `await (await import("${PACKAGE}/models")).pullModel(new URL("/none.gguf", registry).href).catch((error) => {
      if (error.code === "PERMISSION") throw error; });`,
    flags: ["--allow-net=HOST", "--allow-read=FOLDER", "--allow-write=FOLDER", "--allow-env=GGML_FFI_CACHE"],
  },
  {
    name: "installLibraries",
    program: `await (await import("${PACKAGE}")).installLibraries();`,
    flags: [
      "--allow-net=HOST",
      "--allow-read=FOLDER",
      "--allow-write=FOLDER",
      "--allow-env=GGML_FFI_CACHE,NPM_CONFIG_REGISTRY,npm_config_registry",
    ],
  },
];

let registries: Registries;
let project: EmptyFolder;
let paths: Readonly<Record<string, string>>;

/** Deno's node:child_process adds -A to a `deno run` without any permission. */
const NOTHING = ["--allow-env=NOTHING"];

/** The flags with their paths; several `--allow-read` become one. */
function denoFlags(flags: readonly string[]): string[] {
  const byName = new Map<string, string[]>();
  for (const flag of flags) {
    const [name = "", value] = flag.split("=");
    const values = value?.replace(/^[A-Z]+$/, (place) => paths[place] ?? place);
    byName.set(name, [...byName.get(name) ?? [], ...values === undefined ? [] : [values]]);
  }
  return [...byName].map(([name, values]) => values.length === 0 ? name : `${name}=${values.join(",")}`);
}

async function runTask({ name, program }: Task, flags: readonly string[]) {
  const file = `${name.replaceAll(" ", "_")}.ts`;
  const { MODEL, SPEECH, AUDIO, FOLDER } = paths;
  const values = { model: MODEL, speech: SPEECH, audio: AUDIO, folder: FOLDER, registry: registries.npm };
  const constants = Object.entries(values).map(([key, value]) => `const ${key} = ${JSON.stringify(value)};\n`).join("");
  // Caught here: what rejected elsewhere would be on the error output.
  project.write(
    file,
    `${constants}try {\n${program}\nconsole.log("done");\n} catch (error) {\nconsole.log(error.name + ": " + error.message);\n}\n`,
  );
  return await project.run(["deno", "run", "--no-check", "--no-prompt", ...NOTHING, ...denoFlags(flags), file], {
    GGML_FFI_CACHE: /^installLibraries|downloaded$/.test(name) ? FOLDER : undefined,
  });
}

if (IS_DENO) {
  before(async () => {
    registries = await Registries.start(await packedTree());
    project = new EmptyFolder(registries, { "package.json": '{ "type": "module" }' });
    await project.ran(["npm", "install", PACKAGE]);
    const model = await defaultModelPath();
    project.write("folder/.keep", "");
    paths = {
      LIBRARIES: realpathSync(project.file(`node_modules/@ggml-ffi/linux-${process.arch}-gnu`)),
      MODEL: model,
      SPEECH: tinyEnglishPath,
      AUDIO: jfkPath,
      FOLDER: project.file("folder"),
      CACHE: model,
      HOST: new URL(registries.npm).host,
    };
  });
  after(async () => {
    project[Symbol.dispose]();
    await registries[Symbol.asyncDispose]();
  });

  for (const task of tasks) {
    (task.name.startsWith("speech") ? wideTest : test)(
      `least permissions for ${task.name}; without one of them the error names it`,
      async () => {
        for (const missing of task.flags) {
          const rest = task.flags.filter((flag) => flag !== missing);
          const { code, stdout, stderr } = await runTask(task, rest);
          const [name] = missing.split("=");
          assert.match(stdout, new RegExp(`^PermissionError: .* run with .*${name}`), `without ${missing}: ${stdout}`);
          assert.deepEqual([code, stderr], [0, ""], `without ${missing}`);
        }
        const { stdout, stderr } = await runTask(task, task.flags);
        assert.equal(stdout, "done\n", stderr);
      },
    );
  }

  test("who answers yes to each question gets an answer", async () => {
    project.write("asks.ts", programFrom(PACKAGE));
    const script = fileURLToPath(new URL("./answer_yes.py", import.meta.url));
    const stdout = await project.ran(["python3", script, runtimeProgram("deno"), "run", "asks.ts"]);
    assert.match(stdout, /Paris/);
  });

  test("--allow-ffi with paths isn't enough, and the error says so", async () => {
    const task = tasks.find(({ name }) => name === "an answer of a model")!;
    const { stdout } = await runTask(task, [
      "--allow-ffi=/lib,LIBRARIES",
      "--allow-read=LIBRARIES",
      "--allow-read=MODEL",
    ]);
    assert.match(stdout, /PermissionError: calling native code isn't permitted: run with --allow-ffi, without paths/);
  });
}
