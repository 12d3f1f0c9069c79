import { freemem } from "node:os";

/** Reads a small file; `undefined` when it can't be read. */
export type ReadText = (path: string) => string | undefined;

/** Two versions of control groups: their files, by what they say. */
interface Kind {
  readonly limit: string;
  readonly usage: string;
  readonly cached: RegExp;
}

const VERSION_1: Kind = {
  limit: "memory.limit_in_bytes",
  usage: "memory.usage_in_bytes",
  cached: /^total_(?:in)?active_file (\d+)$/gm,
};
const VERSION_2: Kind = { limit: "memory.max", usage: "memory.current", cached: /^(?:in)?active_file (\d+)$/gm };

/**
 * Bytes of main memory that this process may still take: those that the system has, and what the limits of its control groups leave, as containers have
 * them. `undefined` where neither can be known.
 *
 * @param read reads the system's files on Linux; without it the runtime is asked.
 */
export function freeMemory(read: ReadText | undefined): number | undefined {
  if (read === undefined) return askRuntime();
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(read("/proc/meminfo") ?? "")?.[1];
  const found = [available === undefined ? undefined : Number(available) * 1024, leftByGroups(read)];
  const known = found.filter((bytes) => bytes !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Deno may forbid to ask; then nothing is known. */
function askRuntime(): number | undefined {
  try {
    return freemem();
  } catch {
    return undefined;
  }
}

/** The least that the limits of this process's groups and of those around them leave; `undefined` where there is no limit. */
function leftByGroups(read: ReadText): number | undefined {
  const left = groupFolders(read).map(([folder, kind]) => leftBy(read, folder, kind));
  const known = left.filter((bytes) => bytes !== undefined);
  return known.length === 0 ? undefined : Math.max(0, Math.min(...known));
}

function leftBy(read: ReadText, folder: string, { limit, usage, cached }: Kind): number | undefined {
  const most = Number.parseInt(read(`${folder}/${limit}`) ?? "");
  const used = Number.parseInt(read(`${folder}/${usage}`) ?? "");
  // "max", and in version 1 a number near 2 ** 63.
  if (Number.isNaN(most) || Number.isNaN(used) || most > 2 ** 60) return undefined;
  // Pages of files count as used, but make room when memory is asked for.
  const files = [...(read(`${folder}/memory.stat`) ?? "").matchAll(cached)];
  return most - used + files.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** The folders of the groups that limit this process's memory, from its own to the outermost that can be seen. */
function groupFolders(read: ReadText): [folder: string, kind: Kind][] {
  const groups = read("/proc/self/cgroup") ?? "";
  const mounts = read("/proc/self/mountinfo") ?? "";
  const found: [string, Kind][] = [];
  for (const line of mounts.split("\n")) {
    const [, root = "", mount = "", type = "", options = ""] =
      /^\S+ \S+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    const isVersion1 = type === "cgroup" && options.split(",").includes("memory");
    if (!isVersion1 && type !== "cgroup2") continue;
    const group = (isVersion1 ? /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m : /^0::(.*)$/m).exec(groups)?.[1];
    if (group === undefined) continue;
    // A mount may show a part of the tree: in a container its own group alone.
    const below = root !== "/" && group.startsWith(root) ? group.slice(root.length) : group;
    const parts = below.split("/").filter((part) => part !== "" && part !== "..");
    for (let depth = parts.length; depth >= 0; depth--) {
      found.push([[mount, ...parts.slice(0, depth)].join("/"), isVersion1 ? VERSION_1 : VERSION_2]);
    }
  }
  return found;
}
