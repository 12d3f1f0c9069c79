import { structLayout, structNames } from "../../ffi/tables.ts";
import type { HeaderReading } from "../bindgen/read.ts";
import { newReport, type Report } from "./report.ts";

/** Compares the committed layout of each struct with clang's for each target. */
export function checkLayouts(reading: HeaderReading): Report {
  const report = newReport();
  const names = structNames();
  const inHeaders = new Map(reading.api.records.map((record) => [record.name, record]));
  for (const [target, layouts] of reading.layouts) {
    let equal = 0;
    for (const name of names) {
      const ours = structLayout(name);
      const clang = layouts.get(name) ?? inHeaders.get(name);
      const offsets = clang === undefined
        ? []
        : "offsets" in clang
        ? clang.offsets
        : clang.fields.map((field) => field.offset);
      // An anonymous union is one field to clang, and its members are fields here.
      const own = name === "llama_model_kv_override"
        ? [...new Set(ours.fields.map((field) => field.offset))]
        : ours.fields.map((field) => field.offset);
      const isEqual = clang !== undefined && clang.size === ours.size && clang.align === ours.align &&
        String(offsets) === String(own);
      if (isEqual) equal++;
      else report.problems.push(`${name}: the committed layout isn't clang's for ${target}`);
    }
    report.lines.push(`${target}: ${equal} of ${names.length} struct layouts equal to clang's`);
  }
  for (const name of inHeaders.keys()) {
    if (!names.includes(name)) report.problems.push(`${name} has no committed layout`);
  }
  return report;
}
