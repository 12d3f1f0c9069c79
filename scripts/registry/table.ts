/** The registry of requirements as a table: what each function requires, where that is checked, and which test tries it. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parameterWords, type Requirements, requirementsOf, ruleFiles } from "../../ffi/requirements/mod.ts";
import { functionNames } from "../../ffi/tables.ts";
import { missing, unkept, untried } from "../../tests/checked/untried.ts";
import { ROOT } from "../support/root.ts";

/** One requirement of a function. */
export interface Row {
  readonly function: string;
  readonly header: string;
  readonly requirement: string;
  /** The file whose check refuses a call that breaks it; `null` where none can see it. */
  readonly checked: string | null;
  /** The test that tries it, or the reason why none can. */
  readonly tested: string | null;
  readonly isReason: boolean;
}

const ARGUMENTS = "ffi/checked/arguments.ts";
const TEST = "tests/checked/checked_test.ts";
const WORKER = "ffi/thread/worker_server.ts";
const WORKER_TEST = "tests/ffi/thread/native_thread_test.ts";
const CALLER = "the caller, who alone can know it";

/** The table, function by function. */
export function requirementRows(): Row[] {
  const headers = headerOf();
  return functionNames().flatMap((name) => {
    const requirements = requirementsOf(name);
    const row = (requirement: string, checked: string | null, tested: string | null, isReason = false): Row => ({
      function: name,
      header: headers.get(name) ?? "",
      requirement,
      checked,
      tested,
      isReason,
    });
    return [
      ...parameterRows(requirements).map((text) => row(text, ARGUMENTS, TEST)),
      ...requirements.conditions.map((text) => {
        const reason = reasonOf(name, text);
        return row(text, `ffi/requirements/${fileOf(name, text)}`, reason ?? TEST, reason !== undefined);
      }),
      ...requirements.unseen.map(({ text, seenToBy, triedBy }) =>
        seenToBy === null ? row(text, CALLER, CALLER, true) : row(text, seenToBy, triedBy)
      ),
      ...threadRows(requirements).map((text) => row(text, WORKER, WORKER_TEST)),
    ];
  });
}

/** Faults of the registry itself: rules for no function, files that aren't there. */
export function registryFaults(): string[] {
  const names = functionNames();
  const rules = Object.entries(ruleFiles).flatMap(([file, list]) => list.map((rule) => ({ file, rule })));
  return [
    ...rules.filter(({ rule }) => !names.some((name) => rule.functions.test(name)))
      .map(({ file, rule }) => `ffi/requirements/${file}: ${rule.functions} is for no function`),
    ...rules.flatMap(({ file, rule }) =>
      rule.unseen.flatMap(({ seenToBy, triedBy }) => [seenToBy, triedBy])
        .filter((path) => typeof path === "string" && !existsSync(join(ROOT, path)))
        .map((path) => `ffi/requirements/${file}: there is no ${path}`)
    ),
    ...[...untried, ...unkept, ...missing].filter(([functions]) => !names.some((name) => functions.test(name)))
      .map(([functions]) => `tests/checked/untried.ts: ${functions} is for no function`),
  ];
}

function parameterRows({ shape }: Requirements): string[] {
  return shape.parameters.flatMap((parameter) => {
    const words = parameterWords(parameter);
    return words === undefined ? [] : [`${parameter.name}: ${words}`];
  });
}

/** Threads are no argument: the library keeps to them by giving each object's calls to one thread, one after another. */
function threadRows({ shape }: Requirements): string[] {
  return shape.threads === "object" ? ["one thread at a time on the same objects"] : [];
}

function reasonOf(name: string, condition: string): string | undefined {
  return untried.find(([functions, pattern]) => functions.test(name) && pattern.test(condition))?.[2] ??
    missing.find(([functions]) => functions.test(name))?.[1];
}

function fileOf(name: string, condition: string): string {
  const found = Object.entries(ruleFiles).find(([, rules]) =>
    rules.some(({ functions, conditions }) => functions.test(name) && conditions.includes(condition))
  );
  return found?.[0] ?? "";
}

/** The header of each function, as the tables say. */
function headerOf(): Map<string, string> {
  const folder = join(ROOT, "ffi", "tables");
  const texts = readdirSync(folder).filter((name) => name.endsWith("_functions.ts"))
    .map((name) => readFileSync(join(folder, name), "utf8"));
  return new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/\/\*\* .*?` \(([\w-]+\.h)\).*\n {2}(\w+)\(/g)].map(([, header = "", fn = ""]) =>
        [fn, header] as const
      )
    ),
  );
}
