import type { Generation } from "../mod.ts";
import { print } from "./terminal.ts";

/** Writes an answer as it comes, and a line end after it; or, as JSON, one object once it is there. */
export async function writeAnswer(generation: Generation, json: boolean): Promise<void> {
  if (json) {
    return await print(`${JSON.stringify(await generation)}\n`);
  }
  let last = "";
  for await (const piece of generation) {
    await print(piece);
    last = piece;
  }
  if (!last.endsWith("\n")) await print("\n");
}
