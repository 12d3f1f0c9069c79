import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Segment, TranscribeOptions, Whisper, WhisperOptions } from "../../lib/whisper/mod.ts";
import type { Command } from "../command.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { FORMATS, writer, type Written } from "../results/transcript.ts";
import { outputClosed, print, say, styled } from "../terminal/output.ts";
import { DownloadBar } from "../terminal/download_bar.ts";
import { ProgressBar } from "../terminal/progress_bar.ts";
import { audioRules } from "../../lib/whisper/transcribe/audio_options.ts";
import { transcribeSpec } from "../../lib/whisper/transcribe/options.ts";
import { grouped, optionFlag } from "../flags/flag.ts";

const { rules } = transcribeSpec;

/** `transcribe`: turns speech into text. */
export const command: Command = {
  name: "transcribe",
  summary: "turn speech into text, subtitles or JSON",
  usage: "[OPTIONS] FILE…",
  description:
    "Transcribes audio files with a Whisper model: WAV, and what ffmpeg decodes where that is installed. Writes each segment as it comes, " +
    "with its times, as whisper-cli does; other formats at the end.",
  flags: [
    {
      name: "format",
      short: "f",
      takes: "text",
      placeholder: "NAME",
      default: "lines",
      help: `format of standard output: ${FORMATS.join(", ")}`,
    },
    {
      name: "output",
      short: "o",
      takes: "text",
      placeholder: "FILE",
      many: true,
      help: "write a file too, its format by its name: .txt .srt .vtt .lrc .csv .tsv .json",
    },
    { name: "json", help: "the same as --format json" },
    ...grouped("Model", [
      {
        name: "model",
        short: "m",
        takes: "text",
        placeholder: "FILE",
        default: "tiny.en",
        help: "the model in whisper.cpp's format",
      },
      optionFlag("threads", audioRules, {
        name: "threads",
        short: "t",
        default: "one per core, at most 4",
        help: "maximum number of compute threads",
      }),
    ]),
    ...grouped("Audio", [
      optionFlag("offset", rules, { name: "offset", help: "start of the part that is transcribed, in seconds" }),
      optionFlag("duration", rules, {
        name: "duration",
        short: "d",
        default: "to the end",
        help: "length of the part that is transcribed, in seconds",
      }),
      {
        name: "channel",
        takes: "integer",
        min: 0,
        max: 63,
        option: "channel",
        default: "the mean of all",
        help: "the channel that is transcribed",
      },
      { name: "allow-truncated", option: "allowTruncated", help: "accept a WAV file that is cut off" },
      {
        name: "first-chunk",
        option: "dataChunks",
        help: "read only the first data chunk of a WAV file with several",
      },
      {
        name: "vad-model",
        also: ["-vm"],
        takes: "text",
        placeholder: "FILE",
        option: "vadModel",
        default: "the one in the cache, if any",
        help: "a Silero model: only detected speech is transcribed",
      },
      { name: "no-vad", help: "transcribe silence too" },
    ]),
    ...grouped("Decoding", [
      {
        name: "language",
        short: "l",
        takes: "text",
        placeholder: "LANG",
        option: "language",
        default: "auto",
        help: "spoken language, such as de, or auto",
      },
      { name: "translate", also: ["-tr"], option: "translate", help: "translate to English" },
      { name: "prompt", takes: "text", option: "prompt", help: "preceding text: sets the spelling of names and terms" },
      optionFlag("beamSize", rules, {
        name: "beam-size",
        also: ["-bs"],
        help: "beams of the beam search; 1 decodes greedily",
      }),
      optionFlag("bestOf", rules, {
        name: "best-of",
        also: ["-bo"],
        default: "5",
        help: "candidates at temperatures above 0",
      }),
      optionFlag("temperature", rules, {
        name: "temperature",
        also: ["--temp", "-tp"],
        help: "sampling temperature",
      }),
      optionFlag("maxLength", rules, {
        name: "max-len",
        also: ["-ml"],
        help: "maximum length of a segment in characters; 0 is any",
      }),
      { name: "words", option: "wordTimestamps", help: "compute the times of words (for json, vtt, lrc)" },
    ]),
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
  using downloads = new DownloadBar();
  const options: WhisperOptions = {
    signal,
    download: { onProgress: (progress) => downloads.draw(progress) },
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
    channel: number("channel"),
    allowTruncated: given.has("allow-truncated") ? true : undefined,
    dataChunks: given.has("first-chunk") ? "first" : undefined,
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
  if (segments.every(({ text }) => text.trim() === "")) say(styled("dim", `no speech was found in ${file}`));
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
