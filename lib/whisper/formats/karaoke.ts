/**
 * Karaoke: a video with the words as they are said.
 *
 * @module
 */

import { InvalidArgumentError } from "../../../base/errors.ts";
import { refuse, show } from "../../../base/check.ts";
import { custom, number, options as declare, type RulesOf, text } from "../../../base/options.ts";
import type { Segment, Token } from "../transcribe/segment.ts";
import { shortNumber, tokenBytes } from "./bytes.ts";
import { checkSegments } from "./check.ts";

/** Options of `toKaraoke`. */
export interface KaraokeOptions {
  /** The path of the audio, which the script gives to ffmpeg. */
  audio: string;
  /** Duration of the audio in seconds. */
  duration: number;
  /** The path of a font file, best of a monospace font. No quotes, colons or backslashes. */
  font: string;
}

const FONT_WORDS = "the path of a font file without quotes, colons or backslashes";

const karaokeSpec = declare(
  "toKaraoke",
  {
    audio: text({ required: true }),
    duration: number({ min: 0, max: 1e9, required: true }),
    font: custom<string, { required: true }>(FONT_WORDS, (name, value) => {
      return typeof value === "string" && value !== "" && !/['":\\$`]/.test(value)
        ? value
        : refuse(name, value, FONT_WORDS);
    }, { required: true }),
  } satisfies RulesOf<KaraokeOptions>,
);

/**
 * Returns a shell script that makes a karaoke video by ffmpeg, as whisper-cli writes it (`-owts`). Segments should be short (`maxLength`
 * 60), and their tokens need times. What a shell would run inside a text is escaped, which whisper-cli doesn't do.
 *
 * Throws InvalidArgumentError for values that are not segments, tokens without times, and a font whose path ffmpeg's filters can't take.
 */
export function toKaraoke(segments: Iterable<Segment>, options: KaraokeOptions): string {
  const { audio, duration, font } = karaokeSpec.check(options);
  const name = shellWord(audio);
  const filters = checkSegments("toKaraoke", segments).map((segment) => draw(segment, font));
  return [
    "#!/bin/bash\n\n",
    // A little longer than the audio, as whisper-cli's silence after the end makes it.
    `ffmpeg -i ${name} -f lavfi -i color=size=1200x120:duration=${
      shortNumber(duration + 1000 / 16_000)
    }:rate=25:color=black -vf "`,
    filters.join(","),
    `" -c:v libx264 -pix_fmt yuv420p -y ${name}.mp4\n\n\n`,
    `echo "Your video has been saved to ${shellText(audio)}.mp4"\n\n`,
    `echo "  ffplay ${shellText(audio)}.mp4"\n\n`,
  ].join("");
}

function draw({ start, end, tokens }: Segment, font: string): string {
  const texts = tokens.filter(({ special }) => !special);
  const base = (color: string, offset: string, text: string, from: number, to: number) =>
    `drawtext=fontfile='${font}':fontsize=24:fontcolor=${color}:x=(w-text_w)/2${offset}:text='${text}':enable='between(t,${
      shortNumber(from)
    },${shortNumber(to)})'`;
  const parts = [base("gray", ":y=h/2", "", start, start)];
  for (const [index, token] of texts.entries()) {
    const { from, to } = timesOf(token);
    const all = texts.map(({ text }) => text).join("");
    if (index === 0) parts.push(base("gray", ":y=h/2", `> ${escaped(all)}`, start, end));
    const shown = texts.map((one, at) => at === index ? `${escaped(one.text)}|` : gap(one)).join("");
    const lines = texts.map((one, at) => at === index ? "_".repeat(tokenBytes(one).length) : gap(one)).join("");
    parts.push(base("lightgreen", "+8:y=h/2", `> ${shown}`, from, to));
    parts.push(base("lightgreen", "+8:y=h/2+16", `\\ \\ ${lines}`, from, to));
  }
  return parts.join(",");
}

function timesOf(token: Token): { from: number; to: number } {
  const { start, end, text } = token;
  if (start !== undefined && end !== undefined) return { from: start, to: end };
  throw new InvalidArgumentError(`the token ${show(text)} has no times; transcribe with wordTimestamps: true`, {
    value: text,
    expected: "tokens with start and end",
  });
}

/** As wide as the token. */
function gap(token: Token): string {
  return "\\ ".repeat(tokenBytes(token).length);
}

/** A text within single quotes of ffmpeg's filters, within double quotes of the shell. */
function escaped(text: string): string {
  return text.replaceAll("'", "\u2019").replace(/[\\$`]/g, "\\$&").replaceAll('"', '\\"').replace(/[\r\n]+/g, " ");
}

/** A text within double quotes of the shell. */
function shellText(text: string): string {
  return text.replace(/[\\$`"]/g, "\\$&");
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
