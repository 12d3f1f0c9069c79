// npm run test:long: the long rounds of the tests, with fresh seeds.
import { randomInt } from "node:crypto";
import process from "node:process";
import { setup } from "./setup/setup.ts";
import { cacheFolder } from "./setup/cache.ts";
import { ensureSpeechModels } from "./setup/models.ts";
import { runCommand } from "./support/command.ts";
import { UsageError } from "./support/errors.ts";
import { runAttached } from "./support/exec.ts";
import { seconds } from "./support/progress.ts";
import { ROOT } from "./support/root.ts";
import { type LongRound, longRounds } from "./test/long_rounds.ts";

const help = `Runs the long rounds of the tests and prints their seeds and counts. Ends with 1 when one of them fails.

Usage: npm run test:long -- [options]

  --only NAME,…   these rounds alone
  --scale X       so many times the usual counts, such as 0.1 (default: 1, some hours)
  --seed N        the seed (default: a random one, which is printed)
  -h, --help      this text

Rounds:
${longRounds.map(({ name, about, count }) => `  ${name.padEnd(10)} ${about}: ${count}`).join("\n")}
`;

const options = { only: { type: "string" }, scale: { type: "string" }, seed: { type: "string" } } as const;

await runCommand({ help, options }, async (values) => {
  const wanted = wantedRounds(values.only);
  const scale = positive("--scale", values.scale ?? "1");
  const seed = Math.floor(positive("--seed", values.seed ?? String(randomInt(1, 2 ** 31))));
  await setup();
  await ensureSpeechModels(ROOT, cacheFolder());
  process.chdir(ROOT);
  const failed: string[] = [];
  for (const round of wanted) if (!await runRound(round, Math.ceil(round.count * scale), seed)) failed.push(round.name);
  console.log(failed.length === 0 ? "All rounds passed." : `FAILED: ${failed.join(", ")}`);
  return failed.length === 0 ? 0 : 1;
});

async function runRound({ name, commands, env }: LongRound, count: number, seed: number): Promise<boolean> {
  const started = performance.now();
  console.log(`── ${name}: ${count}, seed ${seed}`);
  let passed = true;
  for (const [program = "", ...args] of commands(count, seed)) {
    Object.assign(process.env, env?.(count, seed));
    passed = await runAttached(program, args) === 0 && passed;
  }
  console.log(`   ${passed ? "passed" : "FAILED"} (${seconds(performance.now() - started)})\n`);
  return passed;
}

function wantedRounds(only: string | undefined): readonly LongRound[] {
  const names = only?.split(",");
  const unknown = names?.find((name) => !longRounds.some((round) => round.name === name));
  if (unknown !== undefined) {
    throw new UsageError(`there is no round "${unknown}"; there are: ${longRounds.map(({ name }) => name).join(", ")}`);
  }
  return longRounds.filter(({ name }) => names?.includes(name) ?? true);
}

function positive(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new UsageError(`${flag} must be a number above 0, not ${text}`);
}
