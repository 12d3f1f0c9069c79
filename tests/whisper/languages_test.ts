import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadWhisper, type Whisper } from "../../lib/whisper/mod.ts";
import { basePath, jfkPath } from "./files.ts";
import { upstream } from "./upstream.ts";

const slow = { timeout: 240_000 };

let whisper: Whisper;

before(async () => void (whisper = await loadWhisper(basePath, { threads: 1 })), slow);
after(() => whisper.dispose());

test("the language is heard, as probable as whisper-cli says", slow, async () => {
  const languages = await whisper.detectLanguage(jfkPath);
  assert.equal(languages.length, 99);
  assert.equal(languages[0]?.language, "en");
  const args = ["-m", basePath, "-f", jfkPath, "-t", "1", "-dl", "-l", "auto", "-oj", "-of", "/dev/null"];
  const said = /auto-detected language: (\w+) \(p = ([\d.]+)\)/.exec(await upstream("whisper-cli", args, "stderr"));
  assert.deepEqual([said?.[1], said?.[2]], ["en", languages[0]?.probability.toFixed(6)]);
  const sum = languages.reduce((total, { probability }) => total + probability, 0);
  assert.ok(Math.abs(sum - 1) < 1e-3, String(sum));
  assert.ok(languages.every(({ probability }, at) => probability <= (languages[at - 1]?.probability ?? 1)));
});

test("without a language the text is in the one that is heard", slow, async () => {
  const { language, languages, text, segments } = await whisper.transcribe(jfkPath, { vad: false });
  assert.equal(language, "en");
  assert.equal(languages?.[0]?.language, "en");
  assert.match(text, /ask not what your country can do for you, ask what you can do for your country/);
  assert.ok(segments.every((one) => one.language === "en"));
});

test("the text is in the language that is asked for; translated, it is English", slow, async () => {
  const german = await whisper.transcribe(jfkPath, { vad: false, language: "de" });
  assert.match(german.text, /\bUnd\b/);
  assert.equal(german.language, "de");
  const english = await whisper.transcribe(jfkPath, { vad: false, language: "german", translate: true });
  assert.match(english.text, /^ And so my fellow Americans ask not what your country can do for you/);
});
