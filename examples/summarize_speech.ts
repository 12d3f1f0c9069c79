// Turns speech into text and has a language model sum it up, both in one process:
// deno run -A examples/summarize_speech.ts [AUDIO], or: bun examples/summarize_speech.ts [AUDIO]
// `npm run setup -- --speech` brings the speech model; without AUDIO it is eleven seconds that set-up brought.
import process from "node:process";
import { loadWhisper, speechModelPath } from "../lib/whisper/mod.ts";
import { defaultModelPath, loadModel } from "../mod.ts";

const audio = process.argv[2] ?? new URL("../csrc/upstream/whisper.cpp-samples/jfk.wav", import.meta.url);
await using whisper = await loadWhisper(await speechModelPath());
await using model = await loadModel(await defaultModelPath());

const { text } = await whisper.transcribe(audio);
console.log(`Said: ${text.trim()}`);

const chat = model.chat({ system: "You summarize transcripts." });
const question = `Transcript:\n${text.trim()}\n\nWrite one sentence that says what the speaker asks of the listeners.`;
const summary = await chat.send(question, { temperature: 0, maxTokens: 60, stop: "\n" });
console.log(`In one sentence: ${summary.text.trim()}`);
