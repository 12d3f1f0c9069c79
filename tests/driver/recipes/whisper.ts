/** Speech models at work. The model is tiny: it hears nothing sensible, fast. */

import process from "node:process";
import { loadWhisper, Resampler, type Whisper } from "../../../lib/whisper/mod.ts";
import { loadDoomedWhisper } from "../doomed/load.ts";
import type { Recipe, Stage } from "../scene.ts";

/** The file that the driver has written. */
const { DRIVER_MODEL: modelPath = "" } = process.env;

let shared: Whisper | undefined;

async function models({ state }: Stage): Promise<{ readonly model: Whisper; readonly fail?: () => Promise<void> }> {
  if (state === "lost") return await loadDoomedWhisper(modelPath);
  const load = () => loadWhisper(modelPath, { threads: 1 });
  if (state === "disposed") return { model: await load() };
  if (shared === undefined || shared.disposed) shared = await load();
  return { model: shared };
}

/** Seconds of a tone, of noise, or of nothing. */
function samples(below: (limit: number) => number, seconds: number): Float32Array<ArrayBuffer> {
  const kind = below(3);
  return Float32Array.from(
    { length: seconds * 16_000 },
    (_, index) => kind === 0 ? 0 : kind === 1 ? Math.sin(index / 7) : below(100) / 100,
  );
}

/** A transcription. */
const transcribing: Recipe = {
  name: "transcription",
  states: ["fresh", "in use", "disposed", "lost"],
  async make(stage) {
    const { state, below, signal } = stage;
    const { model, fail } = await models(stage);
    stage.keepAs("Whisper", model);
    stage.keep(new Resampler(8000, 16_000));
    const work = model.transcribe(samples(below, 1), below(2) === 0 ? {} : { signal: signal() });
    work.then(() => {}, () => {});
    stage.keepAs("Transcription", work);
    if (state === "in use") await stage.during(work);
    else if (fail !== undefined) await stage.lose(fail());
    else await work.then(() => {}, () => {});
  },
};

/** Audio that comes bit by bit, from a function that makes calls. */
const reading: Recipe = {
  name: "audio",
  states: ["in callback"],
  async make(stage) {
    const { model } = await models(stage);
    stage.keepAs("Whisper", model);
    stage.keep(new Resampler(8000, 16_000));
    const first = model.transcribe(samples(stage.below, 1));
    first.then(() => {}, () => {});
    stage.keepAs("Transcription", first);
    const parts = async function* (): AsyncGenerator<Float32Array> {
      for (let left = 3; left > 0; left--) {
        stage.act();
        yield samples(stage.below, 1);
      }
    };
    if (stage.below(2) === 0) { for await (const text of model.live(parts())) stage.keep(text); }
    else await model.transcribe(parts() as never).then(() => {}, () => {});
    await first.then(() => {}, () => {});
  },
};

/** The recipes, which a random driver mixes with calls. */
export const recipes: readonly Recipe[] = [transcribing, reading];
