/** The kind of device: a CPU, a GPU with its own memory or with the CPU's, or an accelerator beside the CPU. */
export type DeviceKind = "cpu" | "gpu" | "igpu" | "accelerator" | "other";

/** In the order of `enum ggml_backend_dev_type`. */
const kinds: readonly DeviceKind[] = ["cpu", "gpu", "igpu", "accelerator"];

/** The kind that a value of `enum ggml_backend_dev_type` stands for. */
export function deviceKind(value: number): DeviceKind {
  return kinds[value] ?? "other";
}
