import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import process from "node:process";
import test from "node:test";
import { InvalidArgumentError } from "../../../lib/errors.ts";
import { toCsv, toJson, toKaraoke, toLrc, toSrt, toText, toTsv, toWebVtt } from "../../../lib/whisper/formats/mod.ts";
import type { Segment, Token } from "../../../lib/whisper/transcribe/segment.ts";

function segment(text: string, start: number, end: number, more: Partial<Segment> = {}): Segment {
  return { text, start, end, tokens: [], speakerTurn: false, noSpeechProbability: 0, language: "en", ...more };
}

function token(text: string, more: Partial<Token> = {}): Token {
  return { id: 1, text, special: false, probability: 0.5, ...more };
}

const hello = segment(" Hello.", 3_599.999, 3_661.5);

test("times: hours, rounding, more than a day", () => {
  assert.equal(toSrt([hello]), "1\n00:59:59,999 --> 01:01:01,500\n Hello.\n\n");
  assert.equal(toWebVtt([hello]), "WEBVTT\n\n00:59:59.999 --> 01:01:01.500\n Hello.\n\n");
  assert.equal(toLrc([hello]), "[by:whisper.cpp]\n[59:59.99] Hello.\n");
  assert.match(toSrt([segment("a", 360_000.0004, 360_001)]), /100:00:00,000 --> 100:00:01,000/);
  // 1.1 * 3 isn't 3.3 in floating point.
  assert.match(toCsv([segment("a", 1.1 * 3, 4.35)]), /3300,4350/);
});

test("no segments", () => {
  assert.deepEqual([toSrt([]), toWebVtt([]), toText([])], ["", "WEBVTT\n\n", ""]);
  assert.deepEqual([toCsv([]), toTsv([])], ["start,end,text\n", "start\tend\ttext\n"]);
  assert.deepEqual(JSON.parse(toJson([])), { result: { language: "" }, transcription: [] });
});

test("entries are counted from where it is wished", () => {
  assert.match(toSrt([hello, hello], { firstNumber: 7 }), /^7\n[^]*\n8\n/);
});

test("text that the formats would take for something else", () => {
  const odd = [segment(' a\n\n"b"\t<i> & c --> d\\', 0, 1)];
  assert.equal(toSrt(odd), '1\n00:00:00,000 --> 00:00:01,000\n a "b"\t<i> & c --> d\\\n\n');
  assert.match(toWebVtt(odd), /\n a "b"\t&lt;i&gt; &amp; c --&gt; d\\\n\n$/);
  assert.match(toCsv(odd), /\n0,1000," a\n\n""b""\t<i> & c --> d\\"\n$/);
  assert.match(toTsv(odd), /\n0\t1000\ta "b" <i> & c --> d\\\n$/);
  assert.equal(JSON.parse(toJson(odd)).transcription[0].text, odd[0]?.text);
});

test("words get times of their own where it is wished", () => {
  const words = [
    { text: " Hello", start: 0.5, end: 1, probability: 1 },
    { text: " <you>.", start: 61.25, end: 62, probability: 1 },
  ];
  const timed = [segment(" Hello <you>.", 0.5, 62, { words })];
  assert.match(toWebVtt(timed, { words: true }), /\n Hello<00:01:01.250> &lt;you&gt;.\n/);
  assert.match(toLrc(timed, { words: true }), /\[00:00.50\]<00:00.50> Hello<01:01.25> <you>.\n/);
  assert.match(toWebVtt([hello], { words: true }), /\n Hello.\n/);
});

test("full JSON: tokens that share a character are one, numbers have six digits", () => {
  const [first, rest] = [Uint8Array.of(0x20, 0xe4, 0xbd), Uint8Array.of(0xa0)];
  const tokens = [
    token("[_BEG_]", { id: 50363, special: true, probability: 0.824752 }),
    token(" \ufffd", { id: 7, bytes: first, start: 0, end: 0.5, probability: 1e-7 }),
    token("\ufffd", { id: 8, bytes: rest, start: 0.5, end: 0.75, probability: 1 }),
    token("x", { id: 9, start: 1, end: 2, dtw: 1.23, probability: 0.99999999 }),
  ];
  const json = toJson([segment(" 你x", 0, 2, { tokens })], { full: true });
  const [whole] = JSON.parse(json).transcription;
  assert.deepEqual(whole.tokens.map((one: { text: string }) => one.text), ["[_BEG_]", " 你", "x"]);
  assert.equal(whole.tokens[0].offsets, undefined);
  assert.deepEqual(whole.tokens[1].offsets, { from: 0, to: 750 });
  assert.deepEqual(whole.tokens.map((one: { t_dtw: number }) => one.t_dtw), [-1, -1, 123]);
  assert.match(json, /"p": 0.824752,/);
  assert.match(json, /"p": 1e-07,/);
  assert.match(json, /"p": 1,/);
  // A character that is never ended takes no more than there is.
  const cut = toJson([segment("", 0, 1, { tokens: [token("\ufffd", { bytes: first })] })], { full: true });
  assert.equal(JSON.parse(cut).transcription[0].tokens.length, 1);
});

test("JSON says whether another speaker follows, where it is wished", () => {
  const [one, other] = JSON.parse(toJson([segment("a", 0, 1, { speakerTurn: true }), hello], { speakerTurns: true }))
    .transcription;
  assert.deepEqual([one.speaker_turn_next, other.speaker_turn_next], [true, false]);
  assert.equal("speaker_turn_next" in JSON.parse(toJson([hello])).transcription[0], false);
});

test(
  "karaoke: no text is run by the shell",
  { skip: process.platform === "win32" ? "there is no bash" : false },
  () => {
    const evil = `"$(echo run >&2)\`echo run >&2\`'; echo run >&2; "`;
    const tokens = [token(evil, { start: 0, end: 1 }), token(" end", { start: 1, end: 2 })];
    const audio = `a'b $(echo run).wav`;
    const script = toKaraoke([segment(`${evil} end`, 0, 2, { tokens })], { audio, duration: 2, font: "font.ttf" });
    const shown = execFileSync("bash", ["-c", `ffmpeg() { printf '%s\\n' "$@"; }\n${script}`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const lines = shown.split("\n");
    assert.equal(lines[1], audio);
    assert.ok(lines.includes(`${audio}.mp4`));
    assert.ok(shown.includes("$(echo run >&2)`echo run >&2`"), shown);
    assert.ok(!lines.includes("run"));
  },
);

test("karaoke needs times of tokens, and a font that ffmpeg's filters can take", () => {
  const options = { audio: "a.wav", duration: 1, font: "font.ttf" };
  assert.throws(
    () => toKaraoke([segment("a", 0, 1, { tokens: [token("a")] })], options),
    /has no times; transcribe with/,
  );
  for (const font of ["", "a'b", "a:b", 5, undefined]) {
    assert.throws(() => toKaraoke([], { ...options, font: font as never }), InvalidArgumentError);
  }
  assert.throws(() => toKaraoke([], { ...options, duration: -1 }), InvalidArgumentError);
  assert.throws(() => toKaraoke([], undefined as never), InvalidArgumentError);
});

test("what are no segments is refused", () => {
  const writers = [toSrt, toWebVtt, toLrc, toCsv, toTsv, toText, toJson] as readonly ((value: never) => string)[];
  const { proxy, revoke } = Proxy.revocable([], {});
  const { proxy: inner, revoke: revokeInner } = Proxy.revocable({}, {});
  revoke();
  revokeInner();
  const wrong = [undefined, null, 5, {}, "text", [null], [{}], [segment(5 as never, 0, 1)], proxy, [inner]];
  const parts = [{ tokens: [null] }, { tokens: [inner] }, { tokens: 5 }, { words: [{}] }, { words: inner }];
  wrong.push(...parts.map((part) => [{ ...segment("a", 0, 1), ...part }] as never));
  const times = [NaN, -1, Infinity, "0", undefined].map((time) => [segment("a", time as never, 1)]);
  for (const write of writers) {
    for (const value of [...wrong, ...times]) assert.throws(() => write(value as never), InvalidArgumentError);
  }
  assert.throws(() => toSrt([], { first: 1 } as never), /toSrt has no option "first"/);
  assert.throws(() => toWebVtt([], { words: 1 as never }), InvalidArgumentError);
  assert.throws(() => toJson([], { full: "yes" as never }), InvalidArgumentError);
  assert.throws(() => toJson([], { model: null as never }), InvalidArgumentError);
  assert.throws(() => toJson([], { model: { audio: null } as never }), InvalidArgumentError);
});
