// The rounds of npm run test:long.
import { bunProgram, denoProgram } from "../bootstrap/packages.mjs";
import { ROOT } from "../support/root.ts";
import { BUN_TIMEOUT_MS } from "./steps.ts";

/** A long run of one kind. */
export interface LongRound {
  readonly name: string;
  /** Its work, for the help. */
  readonly about: string;
  /** The repetitions at scale 1. */
  readonly count: number;
  /** Its commands: with a count and a seed, each after another one. */
  readonly commands: (count: number, seed: number) => readonly (readonly string[])[];
  /** Its environment. */
  readonly env?: (count: number, seed: number) => Readonly<Record<string, string>>;
}

const deno = [denoProgram(ROOT), "run", "-A", "--no-check"];
const bun = [bunProgram(ROOT)];
const both = (...args: readonly string[]): string[][] => [[...deno, ...args], [...bun, ...args]];
const bothTests = (file: string): string[][] => [
  [denoProgram(ROOT), "test", "-A", "--no-check", file],
  [bunProgram(ROOT), "test", "--timeout", BUN_TIMEOUT_MS, `./${file}`],
];

/** Every kind, in the order in which they run. */
export const longRounds: readonly LongRound[] = [
  {
    name: "driver",
    about: "random calls of every public method, minutes for each entry point",
    count: 30,
    commands: (count, seed) =>
      ["ggml", "llama", "whisper"].map((entry) => {
        const args = ["--entry", entry, "--minutes", String(count), "--seed", String(seed)];
        return [...deno, "tests/driver/driver.ts", ...args, "--runtime", "both"];
      }),
  },
  {
    name: "hostile",
    about: "damaged inputs of each kind",
    count: 5000,
    commands: (count, seed) => [
      [...deno, "tests/hostile/rounds.ts", "--count", String(count), "--seed", String(seed), "--runtime", "both"],
    ],
  },
  {
    name: "jinja",
    about: "random templates, compared with Python's jinja2",
    count: 2000,
    commands: (count, seed) => [[...deno, "tests/oracle/jinja_random.ts", String(count), String(seed)]],
  },
  {
    name: "probe",
    about: "structs by value of random layouts",
    count: 5,
    commands: (count) => [[...deno, "tests/ffi/probe/rounds.ts", String(count), "400"]],
  },
  {
    name: "consumer",
    about: "every way to install, bundle and run the packages",
    count: 1,
    commands: () => bothTests("tests/consumer"),
    env: () => ({ CONSUMER_WIDE: "1" }),
  },
  {
    name: "operators",
    about: "random operands of every operator",
    count: 200,
    commands: () => bothTests("tests/ggml/operators/fuzz_test.ts"),
    env: (count, seed) => ({ FUZZ_RUNS: String(count), FUZZ_SEED: String(seed) }),
  },
  {
    name: "faults",
    about: "faults of a backend",
    count: 500,
    commands: () => bothTests("tests/ggml/backend/faults_test.ts"),
    env: (count) => ({ FAULT_ROUNDS: String(count) }),
  },
  {
    name: "aborts",
    about: "aborts of native code, in programs of their own",
    count: 100,
    commands: (count) => [[...deno, "tests/model/containment/abort_runs.ts", String(count), "10"]],
  },
  {
    name: "exits",
    about: "ends of a program during native work, each way at each moment",
    count: 20,
    commands: (count) => [[...deno, "tests/process_ends/matrix.ts", "--times", String(count)]],
  },
  {
    name: "setup",
    about: "set-up killed after so many changes of its cache, and run again",
    count: 50,
    commands: (
      count,
      seed,
    ) => [[...deno, "tests/unit/setup/kill_rounds.ts", "--count", String(count), "--seed", String(seed)]],
  },
  {
    name: "ends",
    about: "ends of a program, each way at each moment, compared with the empty program's",
    count: 1,
    commands: (count) => [[...deno, "tests/process_ends/matrix.ts", "--times", String(count), "--runtime", "both"]],
  },
  {
    name: "memory",
    about: "loads, generations and disposals",
    count: 200,
    commands: (count) => both("tests/model/memory_rounds.ts", String(count)),
  },
  {
    name: "soak",
    about: "minutes of mixed work",
    count: 60,
    commands: (count, seed) => {
      const args = ["tests/soak/soak.ts", "--minutes", String(count), "--seed", String(seed)];
      return [[...deno.slice(0, -1), "--no-check", "--v8-flags=--expose-gc", ...args], [...bun, ...args]];
    },
  },
];
