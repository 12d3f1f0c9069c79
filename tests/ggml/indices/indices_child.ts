// Runs the cases, one after another, and writes what each saw as a line of JSON.
import process from "node:process";
import { cases } from "./indices_cases.ts";

for (const [name, run] of Object.entries(cases)) console.log(JSON.stringify({ name, seen: await run() }));
process.exit(0);
