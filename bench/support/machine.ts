import { cpus, loadavg } from "node:os";

/** The processor and the load, to be printed beside measurements. */
export function machine(): { cpu: string; cores: number; load: number[] } {
  const list = cpus();
  return { cpu: list[0]?.model ?? "unknown", cores: list.length, load: loadavg() };
}
