/**
 * The tasks of a Whisper model's native threads.
 *
 * @module
 */

import { detectLanguage } from "./language.ts";
import { loadWhisperModel, unloadWhisperModel } from "./load.ts";
import { transcribe } from "./transcribe.ts";
import { closeVadStream, detectSpeech, openVadStream, processVad } from "./vad.ts";

/** The tasks by name. */
export const whisperTasks = {
  loadWhisper: loadWhisperModel,
  unloadWhisper: unloadWhisperModel,
  transcribe,
  detectSpeech,
  detectLanguage,
  openVadStream,
  processVad,
  closeVadStream,
} as const;

/** The type of {@linkcode whisperTasks}. */
export type WhisperTasks = typeof whisperTasks;
