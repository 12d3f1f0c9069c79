/** Speech models at work. */

import { loadWhisper, speechModelPath, type Whisper } from "../../../lib/whisper/mod.ts";
import type { Recipe } from "../machine.ts";

let shared: Promise<Whisper> | undefined;

function load(): Promise<Whisper> {
  return speechModelPath().then((path) => loadWhisper(path, { threads: 1 }));
}

/** A second of a tone, of noise, or of nothing. */
function samples(below: (limit: number) => number): Float32Array {
  const kind = below(3);
  return Float32Array.from(
    { length: 16_000 },
    (_, index) => kind === 0 ? 0 : kind === 1 ? Math.sin(index / 7) : below(100) / 100,
  );
}

/** A model: the one from before, or a new one, since a call may have disposed the other. */
const model: Recipe = async ({ below }, keep) => {
  if (shared === undefined || below(4) === 0) shared = load();
  keep(await shared);
};

/** A transcription that is under way. */
const transcribing: Recipe = async (source, keep) => {
  const one = await (shared ??= load());
  const transcription = one.transcribe(samples(source.below), { signal: source.signal(), audioContext: 64 } as never);
  transcription.then(() => {}, () => {});
  keep(one, transcription);
};

/** The recipes, which a random driver mixes with calls. */
export const recipes: readonly Recipe[] = [model, transcribing];
