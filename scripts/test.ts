// npm test: set-up, then every check and every test in both runtimes. The last line: N passed, N failed, N skipped.
import { cacheFolder } from "./setup/cache.ts";
import { ensureSpeechModels } from "./setup/models.ts";
import { setup } from "./setup/setup.ts";
import { runCommand } from "./support/command.ts";
import { UsageError } from "./support/errors.ts";
import { ROOT } from "./support/root.ts";
import { runSteps, summarize } from "./test/runner.ts";
import { type Step, steps } from "./test/steps.ts";

/** Parts with tests that need no speech model. */
const WITHOUT_SPEECH = ["unit", "ffi", "ggml"];

const all = steps();
const parts = [...new Set(all.map(({ part }) => part))];

const help = `Runs set-up, then every check and every test in Deno and in Bun.

Usage: npm test -- [options]

  --only PART,…   these parts alone
  -h, --help      this text

Parts: ${parts.join(", ")}
`;

await runCommand({ help, options: { only: { type: "string" } } }, async ({ only }) => {
  const wanted = wantedSteps(only);
  const started = performance.now();
  await setup();
  if (wanted.some(({ part, runtime }) => runtime !== undefined && !WITHOUT_SPEECH.includes(part))) {
    await ensureSpeechModels(ROOT, cacheFolder());
  }
  return summarize(await runSteps(wanted), performance.now() - started);
});

function wantedSteps(only: string | undefined): Step[] {
  const names = only?.split(",") ?? parts;
  const unknown = names.find((name) => !parts.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`there is no part "${unknown}"; there are: ${parts.join(", ")}`);
  }
  return all.filter(({ part }) => names.includes(part));
}
