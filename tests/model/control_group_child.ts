import process from "node:process";
import { defaultModelPath, GgmlError, loadModel } from "../../mod.ts";

try {
  await using model = await loadModel(await defaultModelPath(), { threads: 1, contextSize: Number(process.argv[2]) });
  const { text } = await model.complete("The capital of France is ".repeat(100), { maxTokens: 8, temperature: 0 });
  console.log(text);
} catch (error) {
  if (!(error instanceof GgmlError)) throw error;
  console.log(`${error.name}: ${error.message}`);
}
