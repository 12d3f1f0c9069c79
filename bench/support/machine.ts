import { cpus, loadavg } from "node:os";

/** What the measures depend on, to be printed beside them. */
export function machine(): { cpu: string; cores: number; load: number[] } {
  const list = cpus();
  return { cpu: list[0]?.model ?? "unknown", cores: list.length, load: loadavg() };
}
