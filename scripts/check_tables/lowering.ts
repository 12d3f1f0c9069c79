import { type Abi, hostAbi, place } from "../../ffi/call/abi.ts";
import { MAX_PARAMETERS } from "../../ffi/runtime/bun.ts";
import { lower } from "../../ffi/call/lower.ts";
import type { Native } from "../../ffi/native.ts";
import { isStruct } from "../../ffi/types/signature.ts";
import { hasThunk } from "../../ffi/call/thunk.ts";
import { functionEntry, functionNames, type Lib, structLayout } from "../../ffi/tables.ts";
import { replacements } from "./replacements.ts";
import { newReport, type Report } from "./report.ts";

const abis: readonly Abi[] = ["sysv", "aapcs64", "apple-arm64", "win64"];

/** Why Bun can't call a function with scalars alone; `undefined` when it can. Without structs it is declared to Bun as it is. */
export function bunCannot(name: string, abi: Abi): string | undefined {
  const { signature } = functionEntry(name)!;
  if (!signature.parameters.some(isStruct) && !isStruct(signature.result)) {
    const count = signature.parameters.length;
    return count > MAX_PARAMETERS ? `it has ${count} parameters of at most ${MAX_PARAMETERS}` : undefined;
  }
  const lowered = lower(place(signature, abi, structLayout), MAX_PARAMETERS);
  return "reason" in lowered ? lowered.reason : undefined;
}

/** Why this runtime can't call a function; `undefined` when it can. */
export function unsupportedHere(native: Native, name: string): string | undefined {
  return native.runtime === "deno" || hasThunk(hostAbi()) ? undefined : bunCannot(name, hostAbi());
}

/** Resolves and binds each entry here, and lowers each for every calling convention. */
export function checkLowering(native: Native): Report {
  const report = newReport();
  const names = functionNames();
  let bound = 0;
  for (const name of names) {
    try {
      native.symbol(name as keyof Lib);
      if (unsupportedHere(native, name) === undefined && typeof native.lib[name as keyof Lib] === "function") bound++;
    } catch (error) {
      report.problems.push(`${name}: ${(error as Error).message}`);
    }
  }
  const unsupported = names.filter((name) => unsupportedHere(native, name) !== undefined);
  report.lines.push(
    `${native.runtime}, ${hostAbi()}: ${names.length} entries resolve; ${bound} bound, ${unsupported.length} not callable`,
  );
  if (bound + unsupported.length !== names.length) {
    report.problems.push(`${names.length - bound - unsupported.length} entries don't bind`);
  }
  for (const abi of abis) {
    const refused = names.map((name) => [name, bunCannot(name, abi)] as const).filter(([, reason]) =>
      reason !== undefined
    );
    report.lines.push(
      `Bun on ${abi}: ${names.length - refused.length} of ${names.length} can be called with scalars alone${
        refused.length === 0 ? "" : hasThunk(abi) ? "; the others through ffi/call/thunk.ts:" : "; the others not:"
      }`,
    );
    for (const [name, reason] of refused) {
      report.lines.push(`    ${name}: ${reason}; instead: ${replacements[name] ?? "nothing"}`);
      if (replacements[name] === undefined) {
        report.problems.push(`${name} can't be called from Bun on ${abi}: replacements.ts names nothing instead`);
      }
    }
  }
  for (const name of Object.keys(replacements)) {
    if (!abis.some((abi) => bunCannot(name, abi) !== undefined)) {
      report.problems.push(`replacements.ts has ${name}, which needs none`);
    }
  }
  return report;
}
