// Runs `zig build`, and hears from it how far it is.
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { SetupError } from "./errors.mjs";

// Zig's progress protocol: a byte with the number of nodes, then 48 bytes a node (done, total, name), then a byte with each one's parent.
const nodeBytes = 48;
const nameAt = 8;

export async function runZigBuild({ root, cache, zig, args, report }) {
  const local = join(cache, "zig-cache", "local");
  const global = join(cache, "zig-cache", "global");
  for (const folder of [local, global]) await mkdir(folder, { recursive: true });
  await new Promise((resolve, reject) => {
    const hears = process.platform !== "win32";
    const child = spawn(zig, ["build", ...args, "--summary", "none", "--color", "off"], {
      cwd: root,
      env: { ...process.env, ZIG_LOCAL_CACHE_DIR: local, ZIG_GLOBAL_CACHE_DIR: global, ...(hears ? { ZIG_PROGRESS: "3" } : {}) },
      stdio: ["ignore", "pipe", "pipe", hears ? "pipe" : "ignore"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => said = (said + text).slice(-20_000));
    }
    if (hears) readProgress(child.stdio[3], report);
    child.on("error", (error) => reject(new SetupError(`the build: ${zig} can't be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve();
      reject(new SetupError(`the build failed (${signal ?? `exit code ${code}`}):\n${said.trim()}`));
    });
  });
}

function readProgress(stream, report) {
  let pending = Buffer.alloc(0);
  let compiled = 0;
  let last = 0;
  stream.on("error", () => {});
  stream.on("data", (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    for (;;) {
      const count = pending[0];
      const size = 1 + count * (nodeBytes + 1);
      if (count === undefined || pending.length < size) return;
      const files = compiledFiles(pending.subarray(1, 1 + count * nodeBytes), count);
      // A step's count is gone with the step.
      if (files < last) compiled += last;
      last = files;
      report(0, 0, `${compiled + files} files compiled`);
      pending = pending.subarray(size);
    }
  });
}

/** The sum over the steps at work of the C and C++ files that they have compiled. */
export function compiledFiles(nodes, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const node = nodes.subarray(i * nodeBytes, (i + 1) * nodeBytes);
    const name = node.subarray(nameAt).toString("utf8").replace(/\0.*$/s, "");
    if (name === "Compile C Objects") sum += node.readUInt32LE(0);
  }
  return sum;
}
