// Turns speech into text: deno run -A examples/transcribe.ts [AUDIO], or: bun examples/transcribe.ts [AUDIO]
// `npm run setup -- --speech` brings the model; without AUDIO it is eleven seconds that set-up brought.
import process from "node:process";
import { loadWhisper, speechModelPath, toSrt } from "../lib/whisper/mod.ts";

const audio = process.argv[2] ?? new URL("../csrc/upstream/whisper.cpp-samples/jfk.wav", import.meta.url);
await using whisper = await loadWhisper(await speechModelPath());
const transcription = whisper.transcribe(audio, { maxLength: 40, splitOnWord: true });
for await (const { text, start, end } of transcription) {
  console.log(`${start.toFixed(2)} to ${end.toFixed(2)} s:${text}`);
}
const { segments, timings } = await transcription;
console.error(
  `${timings.audioSeconds.toFixed(1)} s of audio took ${(timings.transcribeMs / 1000).toFixed(1)} s; as SRT:`,
);
console.log(`\n${toSrt(segments).trimEnd()}`);
