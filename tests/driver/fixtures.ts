/** Files that the random driver's children work with: small, and made anew for each run. */

import { writeFileSync } from "node:fs";
import { writeGguf } from "../../lib/ggml/mod.ts";
import { randomLora, tinyWeights, writeLora, writeTinyModel } from "../model/tiny_model.ts";
import type { TemporaryFolder } from "../support/temporary_folder.ts";
import { smallModel } from "../whisper/small_model.ts";
import type { EntryName } from "./entries.ts";

/** Writes the files for an entry; returns the variables by which the children find them. */
export async function writeFixtures(entry: EntryName, folder: TemporaryFolder): Promise<Record<string, string>> {
  const [file, model, lora] = [folder.file("small.gguf"), folder.file("model"), folder.file("lora.gguf")];
  await writeGguf(file, {
    metadata: { "general.architecture": "test", "test.words": ["one", "two"] },
    tensors: [{ name: "a", type: "f32", shape: [256, 64], data: new Float32Array(256 * 64) }],
  });
  if (entry === "llama") {
    await writeTinyModel(model, tinyWeights());
    await writeLora(lora, randomLora(["blk.0.attn_q.weight", "blk.0.ffn_down.weight"], 2, 4, 1));
  }
  if (entry === "whisper") writeFileSync(model, smallModel().bytes);
  return { DRIVER_FILE: file, DRIVER_MODEL: model, DRIVER_LORA: lora };
}
