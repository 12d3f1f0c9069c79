// The checks that a new release may break, before anything is built.
import { denoProgram } from "../bootstrap/packages.mjs";
import { checkAnnotations } from "../bindgen/annotation_check.ts";
import type { Api } from "../bindgen/model.ts";
import { checkWithClang } from "../check_tables/layouts.ts";
import { capture } from "../support/exec.ts";
import { ROOT } from "../support/root.ts";

const LIMIT_MS = 10 * 60_000;

/** One check, and what it found wrong. */
export interface UpgradeCheck {
  readonly name: string;
  readonly problems: readonly string[];
}

/** Runs the checks on the tree of a new release. */
export async function checkRelease(zig: readonly string[], root: string, api: Api): Promise<UpgradeCheck[]> {
  return [
    { name: "each function has an annotation (scripts/bindgen/annotations.ts)", problems: checkAnnotations(api) },
    { name: "the committed tables are what the headers give (scripts/bindgen.ts)", problems: await checkTables(root) },
    {
      name: "clang agrees with the committed layouts, enums and constants (scripts/check_tables.ts)",
      problems: attempt(() => mergeTargets(checkWithClang(zig, root, api).problems)),
    },
  ];
}

async function checkTables(root: string): Promise<string[]> {
  const command = [denoProgram(ROOT), "run", "-A", "--no-check", "scripts/bindgen.ts", "--check", "--upstream", root];
  const { code, text } = await capture(command, { cwd: ROOT, limitMs: LIMIT_MS });
  return code === 0 ? [] : text.trim().split("\n").filter((line) => !line.startsWith("no constant: ")).slice(-8);
}

/** Problems that several targets have alike, once. */
function mergeTargets(problems: readonly string[]): string[] {
  const targets = new Map<string, number>();
  for (const problem of problems) {
    const text = problem.replace(/^[\w-]+: /, "");
    targets.set(text, (targets.get(text) ?? 0) + 1);
  }
  return [...targets].map(([text, count]) => count > 1 ? `${text}, on ${count} targets` : text);
}

function attempt(work: () => readonly string[]): readonly string[] {
  try {
    return work();
  } catch (error) {
    return [(error as Error).message];
  }
}

/** The report of the checks. */
export function reportChecks(checks: readonly UpgradeCheck[]): string {
  return checks.map(({ name, problems }) =>
    `${problems.length === 0 ? "ok    " : "FAILED"} ${name}\n${
      problems.map((problem) => `         ${problem}\n`).join("")
    }`
  ).join("");
}
