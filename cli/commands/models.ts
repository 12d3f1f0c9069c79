import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { jsonLine } from "../results/json.ts";
import { DownloadBar } from "../terminal/download_bar.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { print, say } from "../terminal/output.ts";

/** `models`: the cache of models. */
export const command: Command = {
  name: "models",
  summary: "list, download, verify and remove the models in the cache",
  usage: "list|pull|verify|remove|path [MODEL]",
  description: "list: the models in the cache.\n" +
    "pull MODEL: downloads https://…, hf:owner/repo/file.gguf or, without MODEL, the default model, and prints the path. A download that was cut is continued.\n" +
    "verify [MODEL]: reads the files and compares them with the SHA-256 that they were downloaded with.\n" +
    "remove MODEL: removes a model, by its name in the list or by what it was downloaded from.\n" +
    "path [MODEL]: the path of a model's file, or of the folder.\n" +
    "$GGML_FFI_CACHE names another folder for the cache, $HF_ENDPOINT a mirror of the hub, $HF_TOKEN a token for it.",
  flags: [{ name: "json", help: "write one JSON object per model" }],
  maxPositionals: 2,
  examples: [
    ["deno run -A cli/main.ts models list", "what is there"],
    ["deno run -A cli/main.ts models path", "where it is"],
  ],
  run,
};

type Models = typeof import("../../lib/models/mod.ts");

async function run(given: Given): Promise<number> {
  const [action = "list", model] = given.positionals;
  const models = await import("../../lib/models/mod.ts");
  using interrupt = new Interrupt();
  switch (action) {
    case "list":
      return await list(given, models);
    case "pull":
      return await pull(given, models, model, interrupt.signal);
    case "verify":
      return await verify(given, models, model, interrupt.signal);
    case "remove":
      return await remove(given, models, model);
    case "path":
      return await path(models, model);
    default:
      throw new UsageError(`there is no "models ${action}"; there are list, pull, verify, remove and path`);
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

async function list(given: Given, { listModels }: Models): Promise<number> {
  for (const model of await listModels()) {
    const state = model.complete ? "" : "  (unfinished: pull continues it)";
    const from = model.source === undefined ? "" : `  ${model.source}`;
    const line = `${megabytes(model.bytes).padStart(10)}  ${model.name}${from}${state}\n`;
    await print(given.has("json") ? jsonLine(model) : line);
  }
  return EXIT.fine;
}

async function pull(given: Given, models: Models, model: string | undefined, signal: AbortSignal): Promise<number> {
  using bar = new DownloadBar();
  const options: import("../../lib/models/mod.ts").PullOptions = { signal, onProgress: (one) => bar.draw(one) };
  const pulled = model === undefined
    ? { path: await models.pullDefaultModel(options) }
    : await models.pullModel(model, options);
  bar[Symbol.dispose]();
  await print(given.has("json") ? jsonLine(pulled) : `${pulled.path}\n`);
  return EXIT.fine;
}

async function verify(
  given: Given,
  { verifyModels }: Models,
  model: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  let faults = 0;
  for (const one of await verifyModels(model, { signal })) {
    if (one.fault !== undefined) faults++;
    const state = one.fault ?? (one.complete ? "fine" : "unfinished");
    await print(given.has("json") ? jsonLine(one) : `${one.name}: ${state}\n`);
  }
  return faults === 0 ? EXIT.fine : EXIT.failed;
}

async function remove(given: Given, { removeModel }: Models, model: string | undefined): Promise<number> {
  if (model === undefined) throw new UsageError("models remove needs the name of a model; models list tells them");
  const removed = await removeModel(model);
  if (given.has("json")) await print(jsonLine(removed));
  else say(`removed ${removed.name} (${megabytes(removed.bytes)})`);
  return EXIT.fine;
}

async function path({ findModel, modelsFolder }: Models, model: string | undefined): Promise<number> {
  await print(`${model === undefined ? modelsFolder() : (await findModel(model)).path}\n`);
  return EXIT.fine;
}
