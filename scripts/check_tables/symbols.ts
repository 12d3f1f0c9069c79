import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LibrarySet } from "../../ffi/library/manifest.ts";
import { functionEntry, functionNames, type LibraryName } from "../../ffi/tables.ts";
import { absent } from "../bindgen/absent.ts";
import { headers, includeFolders } from "../bindgen/headers.ts";
import type { Api } from "../bindgen/model.ts";
import { exportedSymbols } from "../binaries/mod.ts";
import { fold, newReport, type Report } from "./report.ts";

/** The functions that a backend module exports for ggml's loader; the callback types ggml_backend_init_t and ggml_backend_score_t have their signatures. */
export const moduleEntries: readonly string[] = ["ggml_backend_init", "ggml_backend_score"];

/** Compares what each library exports with its table. */
export function checkSymbols(set: LibrarySet, api: Api, upstream: string): Report {
  const report = newReport();
  const internal = new InternalHeaders(upstream);
  const declared = new Map(api.functions.map((fn) => [fn.name, fn]));
  for (const file of set.files) {
    const library = libraryOf(file.name);
    const exported = exportedSymbols(readFileSync(join(set.directory, file.name)));
    const inTable = exported.filter((name) => functionEntry(name)?.library === library);
    const rest = exported.filter((name) => functionEntry(name)?.library !== library);
    const mangled = rest.filter((name) => name.startsWith("_Z"));
    const variadic = rest.filter((name) => declared.get(name)?.variadic === true);
    const entries = rest.filter((name) => moduleEntries.includes(name));
    const others = rest.filter((name) =>
      !mangled.includes(name) && !variadic.includes(name) && !entries.includes(name)
    );
    const c = exported.length - mangled.length;
    report.lines.push(
      `${file.name}: ${exported.length} exported = ${c} C + ${mangled.length} C++; ` +
        `C = ${inTable.length} in the table + ${others.length} internal + ${entries.length} entry points of a module + ${variadic.length} variadic`,
    );
    for (const [header, names] of Object.entries(Object.groupBy(others, (name) => internal.declares(name)))) {
      report.lines.push(`    internal, ${header}: ${names!.length}`, ...fold(names!));
    }
    if (variadic.length > 0) report.lines.push(`    variadic, no FFI can call them: ${variadic.join(" ")}`);
    for (const name of others) {
      if (declared.has(name)) {
        report.problems.push(
          `${file.name} exports ${name} of ${declared.get(name)!.header}, but ${library}'s table hasn't it`,
        );
      }
    }
    const missing = functionNames().filter((name) =>
      functionEntry(name)!.library === library && !exported.includes(name)
    );
    for (const name of missing) {
      report.problems.push(`${library}'s table has ${name}, but ${file.name} doesn't export it`);
    }
  }
  for (const [name, reason] of Object.entries(absent)) {
    report.lines.push(`declared and exported nowhere: ${name} (${reason})`);
  }
  return report;
}

/** The library in whose table a file's functions are: each CPU variant exports those of ggml-cpu. */
export function libraryOf(fileName: string): LibraryName {
  const stem = fileName.replace(/^lib/, "").replace(/\.\w+$/, "");
  return (stem.startsWith("ggml-cpu") ? "ggml-cpu" : stem) as LibraryName;
}

/** Headers of upstream that aren't public: they tell why an exported function has no entry. */
class InternalHeaders {
  private readonly texts: readonly (readonly [string, string])[];

  constructor(root: string) {
    const bound = new Set(headers.map((header) => header.name));
    const folders = [...includeFolders, "src", "ggml/src/ggml-cpu"];
    this.texts = folders.flatMap((folder) =>
      readdirSync(join(root, folder)).filter((name) => name.endsWith(".h") && !bound.has(name)).sort()
        .map((name) => [name, readFileSync(join(root, folder, name), "utf8")] as const)
    );
  }

  declares(symbol: string): string {
    const pattern = new RegExp(`\\b${symbol}\\s*\\(`);
    const found = this.texts.find(([, text]) => pattern.test(text));
    return found === undefined ? "in no header" : `in ${found[0]}, which isn't public`;
  }
}
