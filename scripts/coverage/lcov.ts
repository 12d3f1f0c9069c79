// Sums of an LCOV file by folder.

/** Lines and branches: those that ran, and all. */
export interface FolderCoverage {
  readonly folder: string;
  readonly lines: readonly [hit: number, found: number];
  readonly branches: readonly [hit: number, found: number];
}

/**
 * Adds up the lines and branches of an LCOV text by the folder of its files, sorted by name.
 *
 * @param root the folder that the paths begin with; other files don't count.
 * @param depth how many parts of a path make a folder.
 */
export function coverageByFolder(lcov: string, root: string, depth = 2): FolderCoverage[] {
  const sums = new Map<string, [number, number, number, number]>();
  for (const record of lcov.split("end_of_record")) {
    const file = /^SF:(.*)$/m.exec(record)?.[1]?.replaceAll("\\", "/");
    if (file === undefined || !file.startsWith(`${root}/`)) continue;
    const parts = file.slice(root.length + 1).split("/").slice(0, -1);
    const folder = parts.slice(0, depth).join("/") || ".";
    const sum = sums.get(folder) ?? [0, 0, 0, 0];
    for (const [at, key] of ["LH", "LF", "BRH", "BRF"].entries()) {
      sum[at as 0] += Number(new RegExp(`^${key}:(\\d+)$`, "m").exec(record)?.[1] ?? 0);
    }
    sums.set(folder, sum);
  }
  return [...sums].sort(([a], [b]) => a < b ? -1 : 1).map(([folder, [lh, lf, bh, bf]]) => ({
    folder,
    lines: [lh, lf],
    branches: [bh, bf],
  }));
}

/** The table of the folders, and of all of them together. */
export function coverageTable(folders: readonly FolderCoverage[]): string {
  const sum = (of: "lines" | "branches", at: 0 | 1): number => folders.reduce((all, one) => all + one[of][at], 0);
  const all: FolderCoverage = {
    folder: "all",
    lines: [sum("lines", 0), sum("lines", 1)],
    branches: [sum("branches", 0), sum("branches", 1)],
  };
  const share = ([hit, found]: readonly [number, number]): string =>
    `${(found === 0 ? 100 : hit / found * 100).toFixed(1).padStart(6)} % ${`${hit}/${found}`.padStart(13)}`;
  const width = Math.max(...folders.map(({ folder }) => folder.length), 6);
  const line = ({ folder, lines, branches }: FolderCoverage): string =>
    `${folder.padEnd(width)}  ${share(lines)}  ${share(branches)}\n`;
  return `${"folder".padEnd(width)}  ${"lines".padStart(22)}  ${"branches".padStart(22)}\n${
    [...folders, all].map(line).join("")
  }`;
}
