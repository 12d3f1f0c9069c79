/**
 * The tasks of a Whisper model's native threads.
 *
 * @module
 */

import { hearLanguage } from "./language.ts";
import { loadWhisperModel, unloadWhisperModel } from "./load.ts";
import { transcribe } from "./transcribe.ts";
import { closeEar, detectSpeech, hear, openEar } from "./vad.ts";

/** The tasks by name. */
export const whisperTasks = {
  loadWhisper: loadWhisperModel,
  unloadWhisper: unloadWhisperModel,
  transcribe,
  detectSpeech,
  hearLanguage,
  openEar,
  hear,
  closeEar,
} as const;

/** The type of {@linkcode whisperTasks}. */
export type WhisperTasks = typeof whisperTasks;
