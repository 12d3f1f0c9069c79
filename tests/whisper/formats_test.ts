import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  loadWhisper,
  type Segment,
  toCsv,
  toJson,
  toKaraoke,
  toLrc,
  toSrt,
  toText,
  toWebVtt,
  type TranscribeOptions,
  type Whisper,
} from "../../lib/whisper/mod.ts";
import { jfkPath, tinyEnglishPath } from "./files.ts";
import { upstream } from "./upstream.ts";

const slow = { timeout: 240_000 };

let whisper: Whisper;
let folder = "";

before(async () => {
  whisper = await loadWhisper(tinyEnglishPath, { threads: 1 });
  folder = await mkdtemp(join(tmpdir(), "formats-"));
}, slow);

after(async () => {
  await whisper.dispose();
  await rm(folder, { recursive: true });
});

const settings: TranscribeOptions = { vad: false, beamSize: 1, language: "en" };

async function ours(options: TranscribeOptions): Promise<Segment[]> {
  return (await whisper.transcribe(jfkPath, { ...settings, ...options })).segments;
}

async function theirs(name: string, args: readonly string[]): Promise<(ending: string) => Promise<string>> {
  const output = join(folder, name);
  await upstream("whisper-cli", [
    "-m",
    tinyEnglishPath,
    "-f",
    jfkPath,
    "-t",
    "1",
    "-bs",
    "1",
    "-np",
    "-of",
    output,
    ...args,
  ]);
  return (ending) => readFile(`${output}.${ending}`, "utf8");
}

const all = ["-otxt", "-osrt", "-ovtt", "-olrc", "-ocsv", "-ojf"];
const cases: readonly (readonly [string, readonly string[], TranscribeOptions])[] = [
  ["whole segments", [], { wordTimestamps: true }],
  ["short segments", ["-ml", "20"], { wordTimestamps: true, maxLength: 20 }],
  ["words", ["-ml", "1", "-sow"], { wordTimestamps: true, maxLength: 1, splitOnWord: true }],
];

for (const [name, args, options] of cases) {
  test(`${name}: text, SRT, WebVTT, LRC, CSV and full JSON are byte for byte whisper-cli's`, slow, async () => {
    const [written, segments] = [await theirs(name, [...all, ...args]), await ours(options)];
    assert.equal(toText(segments), await written("txt"));
    assert.equal(toSrt(segments), await written("srt"));
    assert.equal(toWebVtt(segments), await written("vtt"));
    assert.equal(toLrc(segments), await written("lrc"));
    assert.equal(toCsv(segments), await written("csv"));
    const json = await written("json");
    const { systeminfo: systemInfo, model, params } = JSON.parse(json);
    assert.equal(toJson(segments, { full: true, systemInfo, model, params }), json);
  });
}

test("JSON without tokens and the karaoke script are byte for byte whisper-cli's", slow, async () => {
  const font = join(folder, "font.ttf");
  await writeFile(font, "");
  const written = await theirs("karaoke", ["-oj", "-owts", "-fp", font]);
  const segments = await ours({ wordTimestamps: true, maxLength: 60 });
  assert.equal(toKaraoke(segments, { audio: jfkPath, duration: 11, font }), await written("wts"));
  const json = await written("json");
  const { systeminfo: systemInfo, model, params } = JSON.parse(json);
  assert.equal(toJson(segments, { systemInfo, model, params }), json);
});
