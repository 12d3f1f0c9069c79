/** What this machine's own libraries give: the tests on other targets are held against it. Prints it as JSON. */
import process from "node:process";
import { defaultModelPath, loadModel } from "../../mod.ts";
import { ask, tokenizations } from "./questions.ts";

await using model = await loadModel(await defaultModelPath(), { threads: 1, contextSize: 512 });
process.stdout.write(JSON.stringify({ tokens: tokenizations(model), answer: await ask(model) }));
