// npm run test:targets: runs the tests of tests/targets/ where programs of other targets can be run, and checks every target's files.
import { runCommand } from "./support/command.ts";
import { UsageError } from "./support/errors.ts";
import { machines } from "./targets/machines.ts";
import { allTargets, targetTests, testTargets } from "./targets/run.ts";

const help =
  `Runs the probe library, the tables, tokenizing and the default question on arm64 Linux under qemu-user, on Windows under Wine and
on musl, and checks the files of every target that is built. What can't run here is skipped, with the reason.

Usage: npm run test:targets -- [options]

  --cached         only what the cache has: nothing is fetched and nothing is built
  --target NAME    only this target; may be repeated
  --file NAME      only this test file; may be repeated
  -h, --help       this text
`;

const options = {
  cached: { type: "boolean" },
  target: { type: "string", multiple: true },
  file: { type: "string", multiple: true },
} as const;

await runCommand({ help, options }, async ({ cached, target, file }) => {
  const unknown = target?.find((name) => !allTargets().includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`there is no target "${unknown}"; there are: ${allTargets().join(", ")}`);
  }
  const unknownFile = file?.find((name) => !targetTests.includes(name));
  if (unknownFile !== undefined) {
    throw new UsageError(`there is no test file "${unknownFile}"; there are: ${targetTests.join(", ")}`);
  }
  const wanted = machines.filter((machine) => target?.includes(machine.target) ?? true);
  return await testTargets(wanted, file ?? targetTests, cached === true);
});
