// npm run test:mutations: takes away each guard of the library in turn and runs the test that must fail then.
import { testMutations } from "./registry/mutations.ts";
import { runCommand } from "./support/command.ts";

const help =
  `Takes away each guard of base/, cli/, ffi/ and lib/ in turn and runs the test that the registry names for it: it must fail. Ends with 1 when one doesn't.

Usage: npm run test:mutations -- [options]

  --only PATH     only guards of files whose path begins so
  --sample N      only N of those that have a test, chosen by --seed
  --seed N        default 1
  --list          prints each guard with its test, and runs nothing
  --find          looks for the test of each guard that has none yet, among those in which it refuses
  --all           with --find: looks for all of them anew
  --tests PATH    with --find and --sample: only test files whose path begins so
  --jobs N        tests that run at once (default: one for each core, at most 4)
  -h, --help      this text
`;

const options = {
  only: { type: "string" },
  sample: { type: "string" },
  seed: { type: "string" },
  list: { type: "boolean" },
  find: { type: "boolean" },
  all: { type: "boolean" },
  tests: { type: "string" },
  jobs: { type: "string" },
} as const;

await runCommand({ help, options }, testMutations);
