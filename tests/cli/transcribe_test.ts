import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { encodeWav } from "../../lib/whisper/mod.ts";
import { jfkPath, voiceActivityPath } from "../whisper/files.ts";
import { parseLines } from "../whisper/support.ts";
import { cli } from "./program.ts";

test("transcribe writes the text with its times, and files beside it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-test-"));
  try {
    const [srt, json] = ["talk.srt", "talk.json"].map((name) => join(folder, name)) as [string, string];
    const { code, out, err } = await cli(["transcribe", "-t", "1", "-o", srt, "-o", json, jfkPath]);
    assert.equal(code, 0, err);
    const lines = parseLines(out);
    assert.match(lines.map(({ text }) => text).join(""), /fellow Americans.*country/);
    assert.match(readFileSync(srt, "utf8"), /^1\n00:00:00,\d{3} --> /);
    const { transcription, model, params } = JSON.parse(readFileSync(json, "utf8"));
    assert.deepEqual(
      transcription.map(({ text }: { text: string }) => text),
      lines.map(({ text }) => ` ${text.trim()}`),
    );
    assert.deepEqual([model.type, model.vocab, params.language], ["tiny", 51864, "en"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("transcribe says that there was no speech, takes a recording that is cut by a flag, and only the part asked for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ggml-ffi-test-"));
  try {
    const [quiet, cut] = ["quiet.wav", "cut.wav"].map((name) => join(folder, name)) as [string, string];
    writeFileSync(quiet, encodeWav(new Float32Array(32_000)));
    writeFileSync(cut, readFileSync(jfkPath).subarray(0, 200_000));
    const silent = await cli(["transcribe", "-t", "1", "-vm", voiceActivityPath, quiet]);
    assert.deepEqual([silent.code, silent.out], [0, ""]);
    assert.match(silent.err, /no speech was found in .*quiet\.wav/);
    const refused = await cli(["transcribe", "-t", "1", cut]);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /is cut off: .* by --allow-truncated/);
    const part = await cli(["transcribe", "-t", "1", "--allow-truncated", "--offset", "3", "-d", "2", cut]);
    assert.equal(part.code, 0, part.err);
    const lines = parseLines(part.out);
    assert.ok(lines.length > 0 && lines.every(({ start, end }) => start >= 3 && end <= 5), part.out);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("transcribe says what is wrong", async () => {
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [[], 2, /there is no audio/],
    [["-f", "doc", jfkPath], 2, /--format must be one of lines, txt/],
    [["-o", "talk.doc", jfkPath], 2, /the format of "talk.doc" isn't known/],
    [["-o", "a.srt", jfkPath, jfkPath], 2, /--output is for one file/],
    [["-bs", "9", jfkPath], 2, /-bs must be an integer from 1 to 8/],
    [["-m", "no.bin", jfkPath], 1, /no file no\.bin/],
    [["-t", "1", "no.wav"], 1, /no file no\.wav/],
    [["-t", "1", "-l", "xx", jfkPath], 2, /language is "xx"/],
  ];
  for (const [args, code, words] of cases) {
    const ended = await cli(["transcribe", ...args]);
    assert.equal(ended.code, code, ended.err);
    assert.match(ended.err, words);
    assert.equal(ended.out, "");
  }
});
