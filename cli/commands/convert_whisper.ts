import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { say } from "../terminal/output.ts";

/** Kinds of models that are converted. */
const KINDS = ["ct2", "safetensors", "silero", "ggml"] as const;

type Kind = typeof KINDS[number];

/** `convert-whisper`: makes whisper.cpp's model files out of other programs', and quantizes them. */
export const command: Command = {
  name: "convert-whisper",
  summary: "make a speech model for whisper.cpp out of another program's, or quantize one",
  usage: "[OPTIONS] -o FILE MODEL [MORE PARTS]",
  description:
    "Converts a Whisper model of CTranslate2 (faster-whisper) or of transformers (safetensors), or Silero's voice " +
    "activity model, to whisper.cpp's format with 16-bit floats; or quantizes a model that is in that format.",
  flags: [
    {
      name: "from",
      takes: "text",
      placeholder: "KIND",
      default: "by its name",
      help: `the kind of MODEL: ${KINDS.join(", ")}`,
    },
    { name: "output", short: "o", takes: "text", placeholder: "FILE", help: "the file to write" },
    {
      name: "vocabulary",
      takes: "text",
      placeholder: "FILE",
      help: "vocabulary.txt, vocabulary.json, vocab.json or tokenizer.json of a Whisper model",
    },
    { name: "config", takes: "text", placeholder: "FILE", help: "config.json of a Whisper model in safetensors" },
    {
      name: "quantize",
      takes: "text",
      placeholder: "TYPE",
      help: "the type to quantize a ggml model to: q5_0, q8_0, …",
    },
    {
      name: "model-version",
      takes: "text",
      placeholder: "N.N.N",
      default: "6.2.0",
      help: "the version of a Silero model",
    },
  ],
  maxPositionals: 1000,
  examples: [
    [
      "deno run -A cli/main.ts convert-whisper --vocabulary vocabulary.txt -o ggml-tiny.bin model.bin",
      "from faster-whisper",
    ],
    ["deno run -A cli/main.ts convert-whisper --quantize q5_0 -o ggml-tiny-q5_0.bin ggml-tiny.bin", "a smaller file"],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  const output = given.text("output");
  if (given.positionals.length === 0) throw new UsageError("there is no model; give its file, or its parts in order");
  if (output === undefined) throw new UsageError("there is no place for the result; give -o FILE");
  const kind = kindOf(given);
  using interrupt = new Interrupt();
  const { writeModel } = await import("../../lib/whisper/convert/mod.ts");
  const bytes = await writeModel(output, await convert(kind, given), { signal: interrupt.signal });
  say(`${output}: ${bytes} bytes`);
  return EXIT.fine;
}

function kindOf(given: Given): Kind {
  const named = given.text("from");
  const found = KINDS.find((kind) => kind === named);
  if (found !== undefined) return found;
  if (named !== undefined) throw new UsageError(`--from must be one of ${KINDS.join(", ")}, not "${named}"`);
  if (given.text("quantize") !== undefined) return "ggml";
  const first = given.positionals[0] ?? "";
  if (!first.endsWith(".safetensors")) return "ct2";
  return /silero|vad/i.test(first) ? "silero" : "safetensors";
}

async function convert(kind: Kind, given: Given): Promise<AsyncGenerator<Uint8Array>> {
  const models = await import("../../lib/whisper/convert/mod.ts");
  const parts = given.positionals;
  allow(kind, given, {
    vocabulary: ["ct2", "safetensors"],
    config: ["safetensors"],
    quantize: ["ggml"],
    "model-version": ["silero"],
  });
  if (kind === "silero") {
    const version = given.text("model-version");
    return models.convertSileroVad(parts, version === undefined ? {} : { version });
  }
  if (kind === "ggml") {
    const wanted = given.text("quantize");
    const type = models.whisperQuantizations.find((one) => one.toLowerCase() === wanted?.toLowerCase());
    if (type !== undefined) return models.quantizeWhisper(parts, type);
    throw new UsageError(`--quantize must be one of ${models.whisperQuantizations.join(", ")}, not "${wanted ?? ""}"`);
  }
  const vocabulary = given.text("vocabulary");
  if (vocabulary === undefined) throw new UsageError("a Whisper model needs its vocabulary; give --vocabulary FILE");
  const config = given.text("config");
  if (kind === "ct2") return models.convertCt2Whisper(parts, vocabulary);
  return models.convertSafetensorsWhisper(parts, vocabulary, config === undefined ? {} : { config });
}

/** Refuses flags that mean nothing for this kind of model. */
function allow(kind: Kind, given: Given, flags: Readonly<Record<string, readonly Kind[]>>): void {
  for (const [flag, kinds] of Object.entries(flags)) {
    if (given.text(flag) === undefined || kinds.includes(kind)) continue;
    throw new UsageError(
      `--${flag} is for ${kinds.join(" and ")} models, and this one is taken as ${kind}; give --from`,
    );
  }
}
