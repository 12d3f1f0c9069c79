import type { ModelInfo } from "../../mod.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { loadGivenModel, MODEL_FLAG } from "../flags/model.ts";
import { jsonLine } from "../results/json.ts";
import { outputClosed, print } from "../terminal/output.ts";
import { packageVersion } from "../../base/version.ts";

/** `info`: describes a model and the libraries. */
export const command: Command = {
  name: "info",
  summary: "describe a model, and the native libraries that run it",
  usage: "[OPTIONS] [MODEL]",
  description: "Describes a model, and the native libraries that run it.",
  flags: [MODEL_FLAG, { name: "json", help: "write one JSON object: version, libraries, model, metadata" }],
  maxPositionals: 1,
  examples: [
    ["deno run -A cli/main.ts info", "the default model"],
    ["deno run -A cli/main.ts info model.gguf --json", "as JSON, with all metadata"],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  const { librariesInfo } = await import("../../mod.ts");
  const libraries = await librariesInfo();
  await using model = await loadGivenModel(given, signal, given.positionals[0]);
  if (given.has("json")) {
    const metadata = Object.fromEntries(model.metadata);
    await print(jsonLine({ version: packageVersion, libraries, model: model.info, metadata }));
    return EXIT.fine;
  }
  const rows: [string, string][] = [
    ["ggml-ffi", packageVersion],
    ["llama.cpp", `${libraries.llamaVersion} (ggml ${libraries.ggmlVersion}, commit ${libraries.commit.slice(0, 12)})`],
    ["libraries", libraries.directory],
    ["kernels", libraries.cpuBackend],
    ...modelRows(model.info),
  ];
  await print(rows.map(([what, value]) => `${what.padEnd(12)}  ${value}\n`).join(""));
  return EXIT.fine;
}

function modelRows(info: ModelInfo): [string, string][] {
  return [
    ["model", info.path],
    ["name", info.name ?? "(none)"],
    ["kind", info.description],
    ["parameters", `${(info.parameterCount / 1e6).toFixed(1)} million in ${(info.byteSize / 2 ** 20).toFixed(1)} MiB`],
    ["trained for", `${info.trainedContextSize} tokens of context`],
    ["vocabulary", `${info.vocabularySize} tokens`],
    ["layers", `${info.layerCount} of ${info.headCount} heads, ${info.embeddingSize} wide`],
    ["chat", info.chatTemplate === undefined ? "no chat template" : "has a chat template"],
  ];
}
