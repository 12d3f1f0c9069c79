// One of several labels, with probabilities, and no text generated. Run: deno run -A examples/choose.ts, or: bun examples/choose.ts
import { defaultModelPath, loadModel } from "../mod.ts";

await using model = await loadModel(await defaultModelPath());
for (const review of ["Wonderful, I loved every minute!", "Boring. The worst film in years."]) {
  const { label, probability } = await model.choose(`Review: ${review}\nSentiment:`, ["positive", "negative"], {
    separator: " ",
  });
  console.log(`${label} (${Math.round(probability * 100)} %): ${review}`);
}
