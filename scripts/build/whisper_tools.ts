import { ensureTools } from "../setup/setup.ts";
import { ensureLibraries } from "./libraries.ts";

/**
 * Builds upstream's whisper-cli and whisper-vad-speech-segments over the same libraries unless the cache has them, and returns their folder. The tests and the
 * benchmark compare with them; no package has them.
 */
export async function ensureWhisperTools(): Promise<string> {
  return await ensureLibraries(await ensureTools(), { settings: ["tools=true"], link: false });
}
