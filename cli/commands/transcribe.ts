import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Segment, TranscribeOptions, Whisper, WhisperOptions } from "../../lib/whisper/mod.ts";
import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Given } from "../flags.ts";
import { Interrupt } from "../interrupt.ts";
import { FORMATS, writer, type Written } from "../transcript.ts";
import { outputClosed, print, ProgressBar, say, styled } from "../terminal.ts";

/** `transcribe`: turns speech into text. */
export const command: Command = {
  name: "transcribe",
  summary: "turn speech into text, subtitles or JSON",
  usage: "[OPTIONS] FILE…",
  description:
    "Transcribes audio files with a Whisper model: WAV of any kind, and what ffmpeg reads where that is installed. Writes each segment as it comes, " +
    "with its times, as whisper-cli does; other formats at the end.",
  flags: [
    {
      name: "model",
      short: "m",
      takes: "text",
      placeholder: "FILE",
      help: "the model in whisper.cpp's format (default: tiny.en, as `npm run setup -- --speech` brings it)",
    },
    {
      name: "language",
      short: "l",
      takes: "text",
      placeholder: "LANG",
      help: 'the language that is spoken, such as de, or "auto" (default: auto)',
    },
    { name: "translate", also: ["-tr"], help: "write English whatever is spoken" },
    { name: "prompt", takes: "text", help: "text that the audio goes on from: names and words to be spelled so" },
    {
      name: "threads",
      short: "t",
      takes: "integer",
      min: 1,
      max: 4096,
      help: "threads to compute with (default: one a core, at most 4)",
    },
    {
      name: "beam-size",
      also: ["-bs"],
      takes: "integer",
      min: 1,
      max: 8,
      help: "candidates of a beam search (default: 1, none)",
    },
    {
      name: "best-of",
      also: ["-bo"],
      takes: "integer",
      min: 1,
      max: 8,
      help: "candidates where tokens are drawn by chance (default: 5)",
    },
    {
      name: "temperature",
      also: ["--temp", "-tp"],
      takes: "number",
      min: 0,
      max: 1,
      help: "how much chance there is in the choice of tokens (default: 0)",
    },
    {
      name: "max-len",
      also: ["-ml"],
      takes: "integer",
      min: 0,
      max: 10_000,
      help: "the most characters of a segment (default: any)",
    },
    { name: "words", help: "find out when each word is said (for json, vtt, lrc)" },
    { name: "offset", takes: "number", min: 0, help: "where to begin, in seconds" },
    { name: "duration", short: "d", takes: "number", min: 0, help: "how much to transcribe, in seconds" },
    {
      name: "vad-model",
      also: ["-vm"],
      takes: "text",
      placeholder: "FILE",
      help: "a Silero model, to transcribe speech alone (default: that of `npm run setup -- --speech`)",
    },
    { name: "no-vad", help: "transcribe silence too" },
    {
      name: "format",
      short: "f",
      takes: "text",
      placeholder: "NAME",
      help: `what to write to standard output: ${FORMATS.join(", ")} (default: lines)`,
    },
    {
      name: "output",
      short: "o",
      takes: "text",
      placeholder: "FILE",
      many: true,
      help: "write a file too, its format by its name: .txt .srt .vtt .lrc .csv .tsv .json; may be repeated",
    },
    { name: "json", help: "the same as --format json" },
  ],
  maxPositionals: 1000,
  examples: [
    ["deno run -A cli/main.ts transcribe talk.wav", "the text with its times, as it comes"],
    ["deno run -A cli/main.ts transcribe -f srt talk.mp3 > talk.srt", "subtitles"],
    ["deno run -A cli/main.ts transcribe --words -o talk.json -o talk.vtt talk.wav", "two files"],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  const files = given.positionals;
  if (files.length === 0) throw new UsageError("there is no audio; give the path of a file");
  const outputs = given.texts("output");
  if (outputs.length > 0 && files.length > 1) throw new UsageError("--output is for one file; give them one by one");
  const format = given.has("json") ? "json" : given.text("format") ?? "lines";
  const onScreen = writer(format);
  const inFiles = outputs.map((path) => ({ path, write: writer(extname(path).slice(1).toLowerCase(), path) }));
  const options = transcribeOptions(given, [format, ...outputs].some((name) => /(vtt|lrc)$/.test(name)));
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  await using whisper = await load(given, signal);
  for (const file of files) {
    const written = await transcribe(whisper, file, { ...options, signal }, format === "lines", given);
    if (format !== "lines") await print(onScreen(written));
    for (const { path, write } of inFiles) {
      await writeFile(path, write(written));
      say(`${path} is written`);
    }
  }
  return EXIT.fine;
}

async function load(given: Given, signal: AbortSignal): Promise<Whisper> {
  // Only now: help and wrong usage don't wait for it.
  const { loadWhisper } = await import("../../lib/whisper/mod.ts");
  const { speechModelPath } = await import("../../lib/models/default_speech_models.ts");
  const threads = given.number("threads");
  const vadModel = given.text("vad-model");
  const verbose = given.has("verbose");
  using bar = new ProgressBar("loading the model");
  const options: WhisperOptions = {
    signal,
    ...(threads === undefined ? {} : { threads }),
    ...(vadModel === undefined ? {} : { vadModel }),
    ...(verbose ? { onLog: ({ text }) => say(styled("dim", text)) } : { onProgress: (share) => bar.draw(share) }),
  };
  return await loadWhisper(given.text("model") ?? await speechModelPath(), options);
}

function transcribeOptions(given: Given, words: boolean): TranscribeOptions {
  const number = (flag: string) => given.number(flag);
  return {
    language: given.text("language"),
    translate: given.has("translate") ? true : undefined,
    prompt: given.text("prompt"),
    beamSize: number("beam-size"),
    bestOf: number("best-of"),
    temperature: number("temperature"),
    maxLength: number("max-len"),
    wordTimestamps: given.has("words") || words ? true : undefined,
    offset: number("offset"),
    duration: number("duration"),
    vad: given.has("no-vad") ? false : given.text("vad-model") === undefined ? "auto" : true,
  };
}

async function transcribe(
  whisper: Whisper,
  file: string,
  options: TranscribeOptions,
  lines: boolean,
  given: Given,
): Promise<Written> {
  using bar = new ProgressBar(`transcribing ${file}`);
  const transcription = whisper.transcribe(file, { ...options, onProgress: (share) => bar.draw(share) });
  const segments: Segment[] = [];
  for await (const segment of transcription) {
    segments.push(segment);
    if (!lines) continue;
    bar[Symbol.dispose]();
    await print(
      writer("lines")({ file, segments: [segment], whisper, language: undefined, translate: false, model: "" }),
    );
  }
  const { timings, language } = await transcription;
  if (given.has("verbose")) {
    const { audioSeconds, vadMs, transcribeMs } = timings;
    say(
      styled(
        "dim",
        `${audioSeconds.toFixed(1)} s of audio in ${((vadMs + transcribeMs) / 1000).toFixed(1)} s, language ${
          language ?? "unknown"
        }`,
      ),
    );
  }
  return { file, segments, whisper, language, translate: options.translate === true, model: whisper.info.path ?? "" };
}
