// npm run chat -- "…": set-up if need be, then the CLI's chat with the arguments given.
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { bunProgram, denoProgram } from "./setup/npm_packages.mjs";
import { SetupError } from "./setup/errors.mjs";
import { run } from "./setup/command.mjs";
import { root, setup } from "./setup.mjs";

await run(async () => {
  await setup();
  const [program, ...args] = command(process.env.GGML_FFI_RUNTIME ?? "deno");
  return await runInstead(program, [...args, join(root, "cli", "main.ts"), "chat", ...process.argv.slice(2)]);
});

function command(runtime) {
  if (runtime === "deno") return [denoProgram(root), "run", "-A"];
  if (runtime === "bun") return [bunProgram(root)];
  throw new SetupError(`GGML_FFI_RUNTIME is "${runtime}"; it may be deno or bun`);
}

/** Runs a program in this one's place: its terminal, its signals, its exit code. */
function runInstead(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: { DENO_NO_UPDATE_CHECK: "1", ...process.env } });
    // The terminal sends its signals to the child too, which decides what they mean; those sent to this process alone are passed on.
    process.on("SIGINT", () => {});
    for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    child.on("error", (error) => reject(new SetupError(`${program} can't be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (signal === null) return resolve(code);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}
