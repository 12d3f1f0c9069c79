// Captures a program of Node that writes a file, and says when the file is there: capture_child.ts PROGRAM FILE
import { existsSync } from "node:fs";
import process from "node:process";
import { capture } from "../../../scripts/support/exec.ts";

const [program = "", file = ""] = process.argv.slice(2);
const timer = setInterval(() => {
  if (!existsSync(file)) return;
  clearInterval(timer);
  process.stdout.write("started\n");
}, 5);
await capture(["node", "-e", program], { cwd: process.cwd(), limitMs: 60_000 });
