import type { Native } from "../../ffi/native.ts";
import type { StructView } from "../../ffi/types/struct_view.ts";
import type { Lib } from "../../ffi/tables.ts";
import { type DefaultsName, structDefaults } from "../../ffi/tables/defaults.ts";
import { type DefaultsRule, defaultsRules, noDefaults, readDefaults } from "../bindgen/defaults.ts";
import type { Api } from "../bindgen/model.ts";
import { unsupportedHere } from "./lowering.ts";
import { newReport, type Report } from "./report.ts";

/** Whether `native.defaults` gives all that the library's function gives, pointers too; of a string its text. */
function isSame(native: Native, rule: DefaultsRule): boolean {
  const make = native.lib[rule.from as keyof Lib] as (...args: readonly unknown[]) => object;
  const [given, own] = [make(...rule.args), native.defaults(rule.struct as DefaultsName)];
  for (const [field, pointee] of Object.entries(rule.pointers ?? {})) {
    if (!pointee.startsWith("text ")) continue;
    const [theirs, ours] = [given, own].map((view) => native.readCString(Reflect.get(view, field)));
    if (theirs !== ours) return false;
    Reflect.set(own, field, Reflect.get(given, field));
  }
  // Upstream takes four threads even where there are fewer cores.
  for (const field of [...rule.arguments ?? [], ...Object.keys(rule.machine ?? {})]) {
    Reflect.set(own, field, Reflect.get(given, field));
  }
  const [a, b] = [given, own].map((view) => native.bytesOf(view as StructView<object>).toHex());
  return a === b;
}

/** Compares the committed default parameters with what the library's own functions give. */
export function checkDefaults(native: Native, api: Api): Report {
  const report = newReport();
  for (const rule of defaultsRules) {
    const committed = structDefaults[rule.struct as DefaultsName];
    const marks = [
      ...(rule.arguments ?? []).map((field) => `${field} is an argument`),
      ...Object.entries(rule.machine ?? {}).map(([field, most]) => `${field} is the number of cores, at most ${most}`),
      ...Object.entries(rule.pointers ?? {}).map(([field, pointee]) => `${field} points to ${pointee}`),
    ];
    const unsupported = unsupportedHere(native, rule.from);
    if (unsupported !== undefined) {
      report.lines.push(`${rule.struct}: not compared, ${rule.from} can't be called here: ${unsupported}`);
      continue;
    }
    const { bytes } = readDefaults(native, rule);
    if (committed?.bytes !== bytes) {
      report.problems.push(`${rule.struct}: ${rule.from}() gives ${bytes}, committed is ${committed?.bytes}`);
    } else if (!isSame(native, rule)) {
      report.problems.push(`${rule.struct}: native.defaults() differs from ${rule.from}()`);
    } else {report.lines.push(
        `${rule.struct}: equal to ${rule.from}()${marks.length > 0 ? ` but for: ${marks.join(", ")}` : ""}`,
      );}
  }
  for (const [name, reason] of Object.entries(noDefaults)) report.lines.push(`${name}: no entry, ${reason}`);
  for (const fn of api.functions) {
    if (!/default|_params$/.test(fn.name) || fn.result.kind === "pointer" || fn.result.kind === "function") continue;
    const returnsStruct = fn.result.kind === "tagged" && fn.result.tag === "struct" ||
      api.records.some((record) => fn.result.kind === "name" && record.name === fn.result.name);
    const isKnown = defaultsRules.some((rule) => rule.from === fn.name) || noDefaults[fn.name] !== undefined;
    if (returnsStruct && !isKnown) {
      report.problems.push(`${fn.name} returns defaults, but scripts/bindgen/defaults.ts doesn't know it`);
    }
  }
  return report;
}
