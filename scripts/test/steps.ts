// The steps of npm test: checks, which must succeed, and runs of tests, which are counted.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bunProgram, denoProgram } from "../bootstrap/packages.mjs";
import { ROOT } from "../support/root.ts";
import { countBun, countDeno, type Counter, countOwn } from "./counts.ts";

/** One command of npm test. */
export interface Step {
  /** Its name in `--only`; several steps may share it. */
  readonly part: string;
  readonly title: string;
  readonly command: readonly string[];
  /** The runtime whose tests it runs; a check has none. */
  readonly runtime?: "deno" | "bun";
  /** Reads the counts from its output; a check counts as one test. */
  readonly counter?: Counter;
}

const deno = denoProgram(ROOT);
const bun = bunProgram(ROOT);
/** The time limit of a test in Bun, which has five seconds else: models load and answer longer. */
export const BUN_TIMEOUT_MS = "300000";
/** The folders whose tests take longest: they begin first, so that none of them is left alone at the end. */
const LONGEST = ["model", "whisper", "cli", "ggml", "unit"];

/** Every step, in the order in which they begin: checks first, which fail soonest. */
export function steps(): Step[] {
  const folders = testFolders();
  const first = LONGEST.filter((name) => folders.includes(name));
  const rest = folders.filter((name) => !first.includes(name));
  return [...checks(), ...first.flatMap(testRuns), ...others(), ...rest.flatMap(testRuns)];
}

function checks(): Step[] {
  const folders = present(["mod.ts", "base", "ffi", "lib", "cli", "scripts", "tests", "bench", "examples"]);
  const { exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")) as { exports: Record<string, string> };
  const tsc = ["node", join("node_modules", "typescript", "bin", "tsc")];
  return [
    { part: "format", title: "deno fmt", command: [deno, "fmt", "--check"] },
    { part: "lint", title: "deno lint", command: [deno, "lint"] },
    { part: "types", title: "deno check", command: [deno, "check", ...folders] },
    { part: "types", title: "tsc", command: [...tsc, "-p", "tsconfig.json"] },
    { part: "docs", title: "deno doc --lint", command: [deno, "doc", "--lint", ...Object.values(exports)] },
    {
      part: "publish",
      title: "deno publish --dry-run",
      command: [deno, "publish", "--dry-run", "--allow-dirty"],
    },
    { part: "layers", title: "imports go one way", command: [deno, "run", "-A", "scripts/check_layers.ts"] },
    {
      part: "tables",
      title: "tables match the headers",
      command: [deno, "run", "-A", "--no-check", "scripts/bindgen.ts", "--check"],
    },
    {
      part: "registry",
      title: "each requirement of C functions has a check and a test",
      command: [deno, "run", "-A", "--no-check", "scripts/registry.ts", "--open"],
    },
    {
      part: "guards",
      title: "some guards, each taken away, are missed by their tests",
      command: [deno, "run", "-A", "--no-check", "scripts/test_mutations.ts", "--sample", "5", "--tests", "tests/unit"],
    },
  ];
}

/** The tests of one folder, in both runtimes. */
function testRuns(folder: string): Step[] {
  const runs: Step[] = [
    {
      part: folder,
      title: `deno test tests/${folder}`,
      runtime: "deno",
      counter: countDeno,
      command: [deno, "test", "-A", "--no-check", `tests/${folder}`],
    },
    {
      part: folder,
      title: `bun test tests/${folder}`,
      runtime: "bun",
      counter: countBun,
      command: [bun, "test", "--timeout", BUN_TIMEOUT_MS, `./tests/${folder}/`],
    },
  ];
  // Each benchmark starts children in both runtimes.
  return folder === "bench" ? runs.slice(0, 1) : runs;
}

function others(): Step[] {
  return [
    {
      part: "examples",
      title: "deno test --doc",
      runtime: "deno",
      counter: countDeno,
      command: [deno, "test", "-A", "--doc", "--no-check", ...present(["mod.ts", "base", "ffi", "lib"])],
    },
    {
      part: "targets",
      title: "other targets, those that are cached",
      counter: countOwn,
      command: [deno, "run", "-A", "--no-check", "scripts/test_targets.ts", "--cached"],
    },
  ];
}

function present(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(join(ROOT, path)));
}

/** The folders of tests/ that have tests. */
function testFolders(): string[] {
  const folders = readdirSync(join(ROOT, "tests"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map((entry) => entry.name).filter((name) =>
    readdirSync(join(ROOT, "tests", name), { recursive: true }).some((f) => String(f).endsWith("_test.ts"))
  );
}
