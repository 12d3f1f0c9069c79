/** Breaks what each C function requires, one requirement at a time, with calls that are checked. Prints what it found as JSON. */

import process from "node:process";
import { InvalidArgumentError } from "../../base/errors.ts";
import { open } from "../../ffi/mod.ts";
import { requirementsOf } from "../../ffi/requirements/mod.ts";
import { functionNames } from "../../ffi/tables.ts";
import { voiceActivityPath } from "../whisper/files.ts";
import { wrongValues } from "./wrong_values.ts";
import { ConditionSearch } from "./search.ts";
import { missing, unkept, untried } from "./untried.ts";
import { makeWorld } from "./world.ts";

/** Most functions need fewer than a hundred. */
const TRIES = 40_000;
const only = process.argv[2] ?? "";
const native = await open();
const world = await makeWorld(native, voiceActivityPath);
const search = new ConditionSearch(world, 1);
const problems: string[] = [];
const unbroken: string[] = [];
let [arguments_, conditions, kept] = [0, 0, 0];
for (const name of functionNames().filter((one) => one.startsWith(only))) {
  // The last line names the function that ended the process.
  console.error(name);
  for (const { parameter, values } of wrongValues(native, name)) {
    arguments_++;
    try {
      world.checker.check(name, values);
      problems.push(`${name} takes a wrong ${parameter}`);
    } catch (error) {
      const message = error instanceof InvalidArgumentError ? error.message : String(error);
      if (!message.startsWith(`${name}: ${parameter} is `)) problems.push(`${name}, ${parameter}: ${message}`);
    }
  }
  const all = requirementsOf(name).conditions;
  if (all.length === 0) continue;
  const skip = (condition: string): boolean =>
    untried.some(([functions, pattern]) => functions.test(name) && pattern.test(condition));
  const mayBeKept = !unkept.some(([functions]) => functions.test(name));
  const found = search.search(name, TRIES, skip, mayBeKept);
  if (found.isMissing) {
    if (!missing.some(([functions]) => functions.test(name))) unbroken.push(`${name}: there is no such object`);
    continue;
  }
  conditions += all.length;
  if (found.kept) kept++;
  else if (mayBeKept) unbroken.push(`${name}: no call keeps all conditions`);
  unbroken.push(...all.filter((one) => !found.broken.has(one) && !skip(one)).map((one) => `${name}: ${one}`));
}
console.log(JSON.stringify({ arguments: arguments_, conditions, kept, problems, unbroken }));
process.exit(0);
