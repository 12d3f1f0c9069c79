import assert from "node:assert/strict";
import test, { after } from "node:test";
import { loadWhisper } from "../../lib/whisper/mod.ts";
import { basePath, jfkPath } from "./files.ts";
import { jfkSamples } from "./support.ts";
import { parseLines } from "./support.ts";
import { upstream } from "./upstream.ts";

const whisper = await loadWhisper(basePath, { threads: 1 });
after(() => whisper.dispose());

test("the language of a recording is heard, with its probability", async () => {
  assert.equal(whisper.info.multilingual, true);
  const heard = await whisper.detectLanguage(jfkPath);
  assert.equal(heard[0]?.language, "en");
  assert.ok((heard[0]?.probability ?? 0) > 0.9);
  assert.equal(heard.length, 99);
  const sum = heard.reduce((total, { probability }) => total + probability, 0);
  assert.ok(Math.abs(sum - 1) < 1e-3, String(sum));
});

test("a multilingual model hears the language and writes the text of whisper-cli", async () => {
  const { segments, language, languages } = await whisper.transcribe(jfkPath, { vad: false });
  assert.deepEqual([language, languages?.[0]?.language], ["en", "en"]);
  const printed = await upstream("whisper-cli", [
    "-m",
    basePath,
    "-f",
    jfkPath,
    "-t",
    "1",
    "-bs",
    "1",
    "-l",
    "auto",
    "-np",
  ]);
  assert.deepEqual(segments.map(({ start, end, text }) => ({ start, end, text })), parseLines(printed));
});

test("translating gives English, a wrong language other words, and names of languages count", async () => {
  const { text, language } = await whisper.transcribe(jfkSamples(), { language: "German", translate: true });
  assert.equal(language, "de");
  assert.match(text, /country/);
  const german = await whisper.transcribe(jfkSamples(), { language: "de" });
  assert.notEqual(german.text, text);
  assert.ok(german.segments.every((segment) => segment.language === "de"));
});

test("the heads that follow the audio tell when a token is said", async () => {
  await using aligned = await loadWhisper(basePath, { threads: 1, alignment: "base" });
  const { segments } = await aligned.transcribe(jfkSamples(), { language: "en" });
  const tokens = segments.flatMap((segment) => segment.tokens).filter(({ special }) => !special);
  const times = tokens.map(({ dtw = NaN }) => dtw);
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
  const ask = tokens.find(({ text }) => /ask/i.test(text));
  assert.ok(Math.abs((ask?.dtw ?? NaN) - 3.5) < 0.6, String(ask?.dtw));
});
