import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import test from "node:test";
import { freeMemory } from "../../../ffi/runtime/free_memory.ts";
import { open } from "../../../ffi/mod.ts";

const MEMINFO = "MemTotal:       8000000 kB\nMemFree:        1000 kB\nMemAvailable:   4000000 kB\n";
const AVAILABLE = 4_000_000 * 1024;
const MB = 1 << 20;

/** The system's files as an object says. */
const system = (files: Readonly<Record<string, string>>) => (path: string): string | undefined =>
  path === "/proc/meminfo" ? MEMINFO : files[path];

const mountsOf = (root: string, fields: string): string =>
  `25 20 0:22 / /proc rw - proc proc rw\n30 20 0:26 ${root} ${fields}\n`;

test("without control groups it is what the system has", () => {
  assert.equal(freeMemory(system({})), AVAILABLE);
  assert.equal(freeMemory(() => undefined), undefined);
});

test("version 2: what the limit leaves; pages of files make room", () => {
  const files = {
    "/proc/self/cgroup": "0::/app\n",
    "/proc/self/mountinfo": mountsOf("/", "/sys/fs/cgroup rw - cgroup2 cgroup rw"),
    "/sys/fs/cgroup/app/memory.max": `${192 * MB}\n`,
    "/sys/fs/cgroup/app/memory.current": `${150 * MB}\n`,
    "/sys/fs/cgroup/app/memory.stat": `anon ${50 * MB}\ninactive_file ${70 * MB}\nactive_file ${30 * MB}\n`,
  };
  assert.equal(freeMemory(system(files)), 142 * MB);
  assert.equal(freeMemory(system({ ...files, "/sys/fs/cgroup/app/memory.max": "max\n" })), AVAILABLE);
});

test("version 2: a group around the own one may leave less; full is 0", () => {
  const files = {
    "/proc/self/cgroup": "0::/pod/app\n",
    "/proc/self/mountinfo": mountsOf("/", "/sys/fs/cgroup rw - cgroup2 cgroup rw"),
    "/sys/fs/cgroup/pod/app/memory.max": `${512 * MB}\n`,
    "/sys/fs/cgroup/pod/app/memory.current": `${100 * MB}\n`,
    "/sys/fs/cgroup/pod/memory.max": `${256 * MB}\n`,
    "/sys/fs/cgroup/pod/memory.current": `${200 * MB}\n`,
  };
  assert.equal(freeMemory(system(files)), 56 * MB);
  assert.equal(freeMemory(system({ ...files, "/sys/fs/cgroup/pod/memory.current": `${300 * MB}\n` })), 0);
});

test("version 1, in a container that sees its own group alone", () => {
  const files = {
    "/proc/self/cgroup": "5:cpu,cpuacct:/docker/1f\n4:memory:/docker/1f\n0::/docker/1f\n",
    "/proc/self/mountinfo": mountsOf("/docker/1f", "/sys/fs/cgroup/memory ro - cgroup cgroup rw,memory"),
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${192 * MB}\n`,
    "/sys/fs/cgroup/memory/memory.usage_in_bytes": `${100 * MB}\n`,
    "/sys/fs/cgroup/memory/memory.stat": `inactive_file 1\ntotal_inactive_file ${20 * MB}\ntotal_active_file ${
      10 * MB
    }\n`,
  };
  assert.equal(freeMemory(system(files)), 122 * MB);
  const none = { ...files, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n" };
  assert.equal(freeMemory(system(none)), AVAILABLE);
});

test("this machine's memory is known, and default parameters have no more threads than it has cores", async () => {
  const native = await open();
  assert.ok((native.freeMemory() ?? 0) > MB);
  for (const name of ["llama_context_params", "whisper_full_params"] as const) {
    assert.equal(native.defaults(name).n_threads, Math.min(4, availableParallelism()));
  }
  assert.equal(native.defaults("llama_context_params").n_threads_batch, Math.min(4, availableParallelism()));
});
