import type { Import, ImportKind, Modules } from "./imports.ts";

/** Finds circles of value imports: for each group of modules that reach each other, one shortest circle. */
export function findCycles(modules: Modules): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  for (const path of modules.keys()) {
    if (done.has(path)) continue;
    const cycle = shortestCycle(modules, path);
    if (cycle === undefined) continue;
    cycles.push(cycle);
    for (const one of cycle) done.add(one);
  }
  return cycles;
}

function shortestCycle(modules: Modules, start: string): string[] | undefined {
  const cycles = valueImports(modules, start).flatMap(({ target }) => {
    const back = findChain(modules, target, ["value"], (one) => one === start);
    return back === undefined ? [] : [[start, ...back]];
  });
  return cycles.sort((one, other) => one.length - other.length)[0];
}

function valueImports(modules: Modules, path: string): readonly Import[] {
  return modules.get(path)?.imports.filter(({ kind }) => kind === "value") ?? [];
}

/** Finds the shortest chain of imports of these kinds from a module to one that is looked for. */
export function findChain(
  modules: Modules,
  start: string,
  kinds: readonly ImportKind[],
  isWanted: (target: string) => boolean,
): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[start, undefined]]);
  // A Map may grow while it is walked.
  for (const path of cameFrom.keys()) {
    if (isWanted(path)) return chainTo(cameFrom, path);
    for (const { kind, target } of modules.get(path)?.imports ?? []) {
      if (kinds.includes(kind) && !cameFrom.has(target)) cameFrom.set(target, path);
    }
  }
  return undefined;
}

function chainTo(cameFrom: ReadonlyMap<string, string | undefined>, end: string): string[] {
  const chain: string[] = [];
  for (let at: string | undefined = end; at !== undefined; at = cameFrom.get(at)) chain.unshift(at);
  return chain;
}
