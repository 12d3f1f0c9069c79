/** GGUF files, by native code and by the project's own. */

import { readFileSync } from "node:fs";
import process from "node:process";
import { GgufFile, NativeGguf } from "../../../../lib/ggml/mod.ts";
import type { Recipe } from "../../scene.ts";
import { context } from "./parts.ts";

/** The file that the driver has written. */
const { DRIVER_FILE: smallFile = "" } = process.env;
const bytes = new Uint8Array(readFileSync(smallFile));

/** An opened file, and one that native code read. */
const opened: Recipe = {
  name: "GGUF",
  states: ["fresh", "in use", "in callback", "disposed"],
  async make(stage) {
    const { state, below, act } = stage;
    const file = await GgufFile.open(smallFile);
    const [made, tensors] = [await NativeGguf.fromBytes(bytes), await context(true)];
    const tensor = tensors.tensor("f32", [4], "x");
    made.addTensor(tensor);
    stage.keep(file, made, tensors, tensor);
    if (state === "in use") await stage.during(file.readTensor("a"));
    if (state !== "in callback") return;
    await NativeGguf.fromReader({
      size: bytes.byteLength,
      read: (offset: number, length: number) => {
        if (below(2) === 0) act();
        return bytes.subarray(offset, offset + length);
      },
    } as never);
  },
};

/** The recipes. */
export const files: readonly Recipe[] = [opened];
