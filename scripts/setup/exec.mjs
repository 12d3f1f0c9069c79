// Running other programs.
import { spawn } from "node:child_process";
import { SetupError } from "./errors.mjs";

/**
 * Runs a program and gives what it wrote to stdout. When it fails, the error ends with the last lines of what it wrote.
 * `show` lets it write to this process's stderr instead.
 */
export function run(command, args, { cwd, env, show = false, task = command } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", show ? process.stderr : "pipe", show ? "inherit" : "pipe"],
      shell: process.platform === "win32" && /^(npm|npx)$/.test(command),
    });
    let stdout = "";
    let both = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => (stdout += text, both = keepTail(both + text)));
    child.stderr?.setEncoding("utf8").on("data", (text) => both = keepTail(both + text));
    child.on("error", (error) => reject(new SetupError(`${task}: ${command} can't be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(stdout);
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      const last = both.trim().split("\n").slice(-15).join("\n");
      reject(new SetupError(`${task} failed: ${command} ended with ${how}${last && `\n${last}`}`));
    });
  });
}

function keepTail(text) {
  return text.length > 20_000 ? text.slice(-10_000) : text;
}

/** Whether a program can be started at all, and what it answers. */
export async function answer(command, args) {
  try {
    return (await run(command, args)).trim();
  } catch {
    return undefined;
  }
}
