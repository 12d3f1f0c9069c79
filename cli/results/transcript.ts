import {
  type Segment,
  toCsv,
  toJson,
  toLrc,
  toSrt,
  toText,
  toTsv,
  toWebVtt,
  type Whisper,
} from "../../lib/whisper/mod.ts";
import { UsageError } from "../errors.ts";

/** The formats of a transcript. */
export const FORMATS = ["lines", "txt", "srt", "vtt", "lrc", "csv", "tsv", "json"] as const;

/** A transcript with what its formats need. */
export interface Written {
  readonly file: string;
  readonly segments: readonly Segment[];
  readonly whisper: Whisper;
  readonly language: string | undefined;
  readonly translate: boolean;
  readonly model: string;
}

/** Returns the function that writes a format. @throws {UsageError} for an unknown one. */
export function writer(format: string, path?: string): (written: Written) => string {
  const write = Object.hasOwn(WRITERS, format) ? WRITERS[format as Format] : undefined;
  if (write !== undefined) return write;
  const known = FORMATS.filter((name) => path === undefined || name !== "lines");
  throw new UsageError(
    path === undefined
      ? `--format must be one of ${known.join(", ")}, not "${format}"`
      : `the format of "${path}" isn't known by its name; end it in ${known.map((name) => `.${name}`).join(", ")}`,
  );
}

type Format = (typeof FORMATS)[number];

const WRITERS: Readonly<Record<Format, (written: Written) => string>> = {
  lines: ({ segments }) =>
    segments.map(({ start, end, text }) => `[${clock(start)} --> ${clock(end)}]  ${text}\n`).join(""),
  txt: ({ segments }) => toText(segments),
  srt: ({ segments }) => toSrt(segments),
  vtt: ({ segments }) => toWebVtt(segments),
  lrc: ({ segments }) => toLrc(segments),
  csv: ({ segments }) => toCsv(segments),
  tsv: ({ segments }) => toTsv(segments),
  json: ({ segments, whisper, language, translate, model }) => {
    const { info } = whisper;
    return `${
      toJson(segments, {
        full: segments.some(({ words }) => words !== undefined),
        systemInfo: info.systemInfo,
        model: {
          type: info.size,
          multilingual: info.multilingual,
          vocab: info.vocabularySize,
          audio: { ctx: info.audioContext, state: info.width, head: info.audioHeads, layer: info.audioLayers },
          text: { ctx: info.textContext, state: info.width, head: info.textHeads, layer: info.textLayers },
          mels: info.melBands,
          ftype: info.fileType,
        },
        params: { model, language: language ?? "auto", translate },
        ...(language === undefined ? {} : { language }),
      }).trimEnd()
    }\n`;
  },
};

function clock(seconds: number): string {
  const whole = Math.round(seconds * 1000);
  const part = (by: number, most: number, digits: number) =>
    String(Math.floor(whole / by) % most).padStart(digits, "0");
  return `${part(3_600_000, 100, 2)}:${part(60_000, 60, 2)}:${part(1000, 60, 2)}.${part(1, 1000, 3)}`;
}
