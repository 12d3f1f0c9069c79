// Prints the registry of requirements: functions, requirements, checked, tested.
import process from "node:process";
import { registryFaults, requirementRows, type Row } from "./registry/table.ts";
import { runCommand } from "./support/command.ts";

const help =
  `Prints what each C function requires, the file that checks it before a call, and the test that tries it. Ends with 1 when a requirement has no check
or no test.

Usage: deno run -A scripts/registry.ts [options]
       bun scripts/registry.ts [options]

  --function NAME   only functions whose names begin so
  --header NAME     only functions of that header
  --open            prints only what has no check or no test
  -h, --help        this text
`;

const options = {
  function: { type: "string" },
  header: { type: "string" },
  open: { type: "boolean" },
} as const;

await runCommand({ help, options }, (values) => {
  const rows = requirementRows().filter((row) =>
    row.function.startsWith(values.function ?? "") && (values.header === undefined || row.header === values.header)
  );
  const faults = registryFaults();
  const open = rows.filter(isOpen);
  for (const [name, own] of Map.groupBy(values.open === true ? open : rows, (row) => row.function)) {
    process.stdout.write(`${name} (${own[0]?.header ?? ""})\n`);
    for (const row of own) process.stdout.write(`  ${line(row)}\n`);
  }
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(summary(rows, open.length));
  return open.length + faults.length > 0 ? 1 : 0;
});

function isOpen({ checked, tested }: Row): boolean {
  return checked === null || tested === null;
}

function line({ requirement, checked, tested, isReason }: Row): string {
  return `${requirement} | ${checked ?? "NO CHECK"} | ${isReason ? `not tried: ${tested}` : tested ?? "NO TEST"}`;
}

function summary(rows: readonly Row[], open: number): string {
  const functions = new Map(Map.groupBy(rows, (row) => row.header));
  const lines = [...functions].sort(([a], [b]) => a < b ? -1 : 1).map(([header, own]) => cells(header, own));
  return `${cells("header", undefined)}${lines.join("")}${cells("all", rows)}${open} open\n`;
}

function cells(title: string, rows: readonly Row[] | undefined): string {
  const counted = rows === undefined ? ["functions", "requirements", "checked", "tested", "not tried"] : [
    new Set(rows.map((row) => row.function)).size,
    rows.length,
    rows.filter(({ checked }) => checked !== null).length,
    rows.filter(({ tested, isReason }) => tested !== null && !isReason).length,
    rows.filter(({ isReason }) => isReason).length,
  ];
  return `${title.padEnd(22)}${counted.map((one) => `  ${String(one).padStart(12)}`).join("")}\n`;
}
