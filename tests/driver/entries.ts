/** The entry points that the random driver tries. */

import process from "node:process";
import type { MachineOptions } from "./machine.ts";

/** The modules of each, whose documentation says what can be called. */
export const modules = {
  ggml: ["lib/ggml/mod.ts", "lib/ggml/ops/mod.ts"],
  llama: ["mod.ts"],
  whisper: ["lib/whisper/mod.ts"],
} as const;

/** The name of an entry. */
export type EntryName = keyof typeof modules;

/** The interfaces whose objects each makes. */
export const objects: Readonly<Record<EntryName, readonly string[]>> = {
  ggml: [],
  llama: ["Chat", "ChatTurn", "Generation"],
  whisper: ["Transcription"],
};

const paths = ["/nowhere/at/all", "file:///nowhere/at/all", "/", "/dev/null", "./x\0y"];

/** What can be called in it, its recipes, and values for parameters of some names. */
export async function loadEntry(
  name: EntryName,
  folder: string,
): Promise<Pick<MachineOptions, "exports" | "recipes" | "hints">> {
  const hints = {
    threads: [1, 2],
    path: [...paths, `${folder}/out`, process.env["DRIVER_FILE"], process.env["DRIVER_MODEL"]],
    folder: paths,
    output: [`${folder}/out`, ...paths],
    prefix: [`${folder}/part`],
    host: ["127.0.0.1", "nowhere.invalid"],
    endpoint: ["127.0.0.1:1", "127.0.0.1"],
    timeoutMs: [1, 50],
    epochs: [1, 2],
    maxTokens: [0, 1, 2, 8],
    contextSize: [1, 64, 256],
  };
  switch (name) {
    case "ggml": {
      const [exports, { recipes }] = await Promise.all([
        import("../../lib/ggml/mod.ts"),
        import("./recipes/ggml/mod.ts"),
      ]);
      return { exports: { ...exports.ops, ...exports }, recipes, hints };
    }
    case "llama": {
      const [exports, { recipes }] = await Promise.all([import("../../mod.ts"), import("./recipes/llama.ts")]);
      return { exports, recipes, hints };
    }
    case "whisper": {
      const [exports, { recipes }] = await Promise.all([
        import("../../lib/whisper/mod.ts"),
        import("./recipes/whisper.ts"),
      ]);
      return { exports, recipes, hints };
    }
  }
}
