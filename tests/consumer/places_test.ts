import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync } from "node:fs";
import process from "node:process";
import test, { after, before } from "node:test";
import { defaultModelPath } from "../../mod.ts";
import { runtime, runtimeProgram } from "../support/program.ts";
import { EmptyFolder, IS_DENO, programFrom } from "./empty_folder.ts";
import { packedTree } from "./packed.ts";
import { Registries } from "./registries.ts";

const PACKAGE = "@ggml-ffi/ggml-ffi";
const NOBODY = 65_534;
const RUN = IS_DENO ? ["deno", "run", "--no-prompt", "--allow-ffi", "--allow-read", "--allow-env"] : ["bun"];
const ANSWER = programFrom(PACKAGE).replace("await defaultModelPath()", "process.env.MODEL").replace(
  "defaultModelPath, ",
  "",
);

/** Whether this user may do it: become another one, have mounts of its own. */
const can = (...command: readonly [string, ...string[]]): boolean =>
  spawnSync(command[0], command.slice(1)).status === 0;
const CAN_CHANGE_USER = can("setpriv", `--reuid=${NOBODY}`, "true");
const CAN_MOUNT = can("unshare", "--mount", "true");

let registries: Registries;
let project: EmptyFolder;
before(async () => {
  registries = await Registries.start(await packedTree());
  project = new EmptyFolder(registries, { "package.json": '{ "type": "module" }', "main.ts": ANSWER });
  await project.ran(["npm", "install", PACKAGE]);
  copyFileSync(await defaultModelPath(), project.file("model.gguf"));
  // Where every user can run it.
  cpSync(runtimeProgram(), project.file(runtime), { dereference: true });
  chmodSync(project.path, 0o755);
});
after(async () => {
  project[Symbol.dispose]();
  await registries[Symbol.asyncDispose]();
});

/** The command that runs the program, for another shell or user to start. */
const command = (file: string): string[] => [project.file(runtime), ...RUN.slice(1), file];
const env = () => ({
  MODEL: project.file("model.gguf"),
  HOME: undefined,
  DENO_DIR: "/nonexistent/deno",
  XDG_CACHE_HOME: undefined,
  GGML_FFI_CACHE: undefined,
});

test("the user nobody, without HOME, gets an answer", async () => {
  if (!CAN_CHANGE_USER) return;
  const become = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  assert.match(await project.ran([...become, ...command("main.ts")], env()), /Paris/);
  project.write("default.ts", programFrom(PACKAGE));
  const { code, stderr } = await project.run([...become, ...command("default.ts")], env());
  assert.equal(code, 1);
  assert.match(stderr, /(ModelNotFoundError|PermissionError): /);
});

test("a file system that is only read is enough", async () => {
  if (!CAN_MOUNT) return;
  const script =
    `mount --make-rprivate / && mount -o remount,bind,ro / && ! touch "$MODEL".new 2>/dev/null && exec "$@"`;
  const readOnly = ["unshare", "--mount", "sh", "-c", script, "sh", ...command("main.ts")];
  assert.match(await project.ran(readOnly, env()), /Paris/);
});

test("a quota of half a processor is one thread", async () => {
  if (process.platform !== "linux") return;
  const group = `/sys/fs/cgroup/cpu/ggml-ffi-test-${process.pid}`;
  if (!can("sh", "-c", `mkdir ${group} && echo 50000 > ${group}/cpu.cfs_quota_us`)) return;
  try {
    project.write(
      "threads.ts",
      `import { loadModel } from "${PACKAGE}";
      await using model = await loadModel(process.env.MODEL);
      console.log(model.info.threads);\n`,
    );
    const limited = ["sh", "-c", `echo $$ > ${group}/cgroup.procs; exec "$@"`, "sh", ...command("threads.ts")];
    assert.equal((await project.ran(limited, env())).trim(), "1");
  } finally {
    can("rmdir", group);
  }
});
