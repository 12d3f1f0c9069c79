// The probe's tests with other random structs, in both runtimes: deno run -A tests/ffi/probe/rounds.ts [ROUNDS [STRUCTS]]
import { spawnSync } from "node:child_process";
import process from "node:process";

const rounds = Number(process.argv[2] ?? 8);
const structs = Number(process.argv[3] ?? 1250);
const runtimes = { deno: ["test", "-A", "--no-check"], bun: ["test"] };

for (let round = 0; round < rounds; round++) {
  const probe = `${structs},${round + 2}`;
  for (const [runtime, args] of Object.entries(runtimes)) {
    const { status, stdout, stderr } = spawnSync(`node_modules/.bin/${runtime}`, [
      ...args,
      "./tests/ffi/probe/probe_test.ts",
    ], {
      env: { ...process.env, GGML_FFI_PROBE: probe, NO_COLOR: "1" },
      encoding: "utf8",
    });
    const ending = `${stdout}${stderr}`.match(/^ok \|.*|^ *\d+ (?:pass|fail)$/gm);
    console.log(
      `${runtime}, ${structs} structs of seed ${round + 2}: ${ending?.map((line) => line.trim()).join(", ")}`,
    );
    if (status !== 0) {
      process.exitCode = 1;
      console.log(stdout, stderr);
    }
  }
}
