// Prints what the file that it is given is refused with.
import process from "node:process";
import { loadModel } from "../../mod.ts";

try {
  await loadModel(process.argv[2] ?? "");
  console.log("loaded");
} catch (error) {
  console.log(String(error));
}
