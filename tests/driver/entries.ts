/** The entry points that the random driver tries. */

import type { MachineOptions } from "./machine.ts";

/** The modules of each, whose documentation says what can be called. */
export const modules = {
  ggml: ["lib/ggml/mod.ts", "lib/ggml/ops/mod.ts"],
  llama: ["mod.ts"],
  whisper: ["lib/whisper/mod.ts"],
} as const;

/** The name of an entry. */
export type EntryName = keyof typeof modules;

/** What can be called in it, and its recipes. */
export async function loadEntry(name: EntryName): Promise<Pick<MachineOptions, "exports" | "recipes">> {
  switch (name) {
    case "ggml": {
      const [exports, { recipes }] = await Promise.all([import("../../lib/ggml/mod.ts"), import("./recipes/ggml.ts")]);
      return { exports: { ...exports.ops, ...exports }, recipes };
    }
    case "llama": {
      const [exports, { recipes }] = await Promise.all([import("../../mod.ts"), import("./recipes/llama.ts")]);
      return { exports, recipes };
    }
    case "whisper": {
      const [exports, { recipes }] = await Promise.all([
        import("../../lib/whisper/mod.ts"),
        import("./recipes/whisper.ts"),
      ]);
      return { exports, recipes };
    }
  }
}
