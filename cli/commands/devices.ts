import type { Command } from "../command.ts";
import { EXIT } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { jsonLine } from "../results/json.ts";
import { print } from "../terminal/output.ts";

/** `devices`: lists what models can run on. */
export const command: Command = {
  name: "devices",
  summary: "list the processors and GPUs that models can run on",
  usage: "[OPTIONS]",
  description: "Lists the devices that models can run on, one per line: name, kind, memory and description.",
  flags: [{ name: "json", help: "write one JSON array: name, description, kind, memory in bytes" }],
  maxPositionals: 0,
  examples: [["deno run -A cli/main.ts devices", "one line per device"]],
  run,
};

async function run(given: Given): Promise<number> {
  const { devices } = await import("../../lib/ggml/mod.ts");
  const found = await devices();
  if (given.has("json")) {
    await print(jsonLine(found));
    return EXIT.fine;
  }
  const width = Math.max(...found.map(({ name }) => name.length));
  const lines = found.map(({ name, kind, memoryTotal, description }) =>
    `${name.padEnd(width)}  ${kind.padEnd(11)}  ${gigabytes(memoryTotal)}  ${description}\n`
  );
  await print(lines.join(""));
  return EXIT.fine;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`.padStart(10);
}
