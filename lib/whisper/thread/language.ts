import type { Native } from "../../../ffi/native.ts";
import type { Pointer } from "../../../ffi/types/pointer.ts";
import type { TaskContext } from "../../../ffi/thread/task.ts";
import { InvalidArgumentError, UnsupportedModelError } from "../../errors.ts";
import { show } from "../../../base/check.ts";
import { TranscriptionError } from "../errors.ts";
import type { LanguageInput, LanguageProbability } from "./protocol.ts";
import { makeState } from "./state.ts";
import { waiting } from "./waiting.ts";

/** Tokens of a multilingual vocabulary that are not languages. */
const OTHER_TOKENS = 51_766;
/** There is nothing to hear in less, in samples. */
const SHORTEST = 1_600;

/** Returns whisper.cpp's code of a language. `"auto"` is English for models that know no other. Throws for names that it doesn't know. */
export function languageOf(native: Native, context: Pointer<"whisper_context">, language: string): string {
  const { lib } = native;
  const multilingual = lib.whisper_is_multilingual(context) !== 0;
  if (language === "auto") return multilingual ? "" : "en";
  const id = lib.whisper_lang_id(language);
  const count = multilingual ? lib.whisper_n_vocab(context) - OTHER_TOKENS : 1;
  if (id >= 0 && id < count) return native.readCString(lib.whisper_lang_str(id));
  if (id >= 0) {
    throw new UnsupportedModelError(
      `the language is ${show(language)}, which this model doesn't know; load one of more languages`,
      { value: language, expected: multilingual ? "another language" : `"en"` },
    );
  }
  throw new InvalidArgumentError(
    `language is ${show(language)}; give a code such as "de", a name such as "german", or "auto"`,
    {
      value: language,
      expected: 'a language that whisper.cpp knows, or "auto"',
    },
  );
}

/** Listens for the language: all of them, the most probable first. */
export function languageScores(
  { native, throwIfCancelled }: Pick<TaskContext, "native" | "throwIfCancelled">,
  context: Pointer<"whisper_context">,
  state: Pointer<"whisper_state">,
  samples: Float32Array<ArrayBuffer>,
  threads: number,
): LanguageProbability[] {
  const { lib } = native;
  const probabilities = new Float32Array(lib.whisper_lang_max_id() + 1);
  const mel = lib.whisper_pcm_to_mel_with_state(context, state, samples, samples.length, threads);
  const code = mel === 0 ? lib.whisper_lang_auto_detect_with_state(context, state, 0, threads, probabilities) : mel;
  throwIfCancelled();
  if (code < 0 || mel !== 0) {
    throw new TranscriptionError(
      `whisper.cpp can't tell the language: it gave ${code}`,
      {
        value: code,
        expected: "a language",
      },
    );
  }
  const count = lib.whisper_n_vocab(context) - OTHER_TOKENS;
  return Array.from(probabilities.subarray(0, count), (probability, id) => ({
    language: native.readCString(lib.whisper_lang_str(id)),
    probability,
  })).sort((a, b) => b.probability - a.probability);
}

/** The language task. */
export function detectLanguage(input: LanguageInput, task: TaskContext<{ waiting: true }>): LanguageProbability[] {
  const { lib, cores } = task;
  if (input.samples.length < SHORTEST) {
    throw new InvalidArgumentError(
      `the audio has ${input.samples.length / 16} ms; give a tenth of a second at least to tell its language`,
      { value: input.samples.length, expected: `at least ${SHORTEST} samples` },
    );
  }
  const threads = cores.acquire(input.threads, waiting(task));
  task.throwIfCancelled();
  const state = makeState(input.context, task);
  try {
    return languageScores(task, input.context, state, input.samples, threads);
  } finally {
    lib.whisper_free_state(state);
  }
}
