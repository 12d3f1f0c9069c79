import type { Command } from "../command.ts";
import { EXIT } from "../errors.ts";
import type { Given } from "../flags/parse.ts";
import { Interrupt } from "../terminal/interrupt.ts";
import { outputClosed, print, say, styled } from "../terminal/output.ts";

/** Upstream's own. */
const DEFAULT_PORT = 50_052;

/** `rpc-server`: lets other machines compute on this one's devices. */
export const command: Command = {
  name: "rpc-server",
  summary: "let other programs compute on this machine's devices, over the network",
  usage: "[OPTIONS]",
  description:
    "Lets other programs compute on this machine's devices, until Ctrl-C. Writes where it listens once it is up. One client at a time.\n" +
    "There is no password and no encryption: other than on 127.0.0.1, whoever reaches the port can use this machine.",
  flags: [
    {
      name: "host",
      short: "H",
      takes: "text",
      placeholder: "ADDRESS",
      default: "127.0.0.1",
      help: "the IPv4 address to listen on",
    },
    {
      name: "port",
      short: "p",
      takes: "integer",
      min: 1,
      max: 65_535,
      default: String(DEFAULT_PORT),
      help: "the port to listen on",
    },
    {
      name: "threads",
      short: "t",
      takes: "integer",
      min: 1,
      max: 512,
      default: "one per core",
      help: "maximum number of compute threads",
    },
    {
      name: "device",
      short: "d",
      takes: "text",
      placeholder: "NAME",
      many: true,
      help: "a device to offer, by its name in `devices`",
    },
    {
      name: "cache",
      short: "c",
      takes: "text",
      placeholder: "FOLDER",
      help: "cache large weights there, so that they aren't sent again",
    },
  ],
  maxPositionals: 0,
  examples: [
    ["deno run -A cli/main.ts rpc-server", "for programs on this machine"],
    ["bun cli/main.ts rpc-server -H 192.168.1.7 -t 8", "for a network that you trust"],
  ],
  run,
};

async function run(given: Given): Promise<number> {
  using interrupt = new Interrupt();
  const signal = AbortSignal.any([interrupt.signal, outputClosed]);
  const { RpcServer } = await import("../../lib/ggml/mod.ts");
  const devices = given.texts("device");
  await using server = await RpcServer.start({
    host: given.text("host"),
    port: given.number("port") ?? DEFAULT_PORT,
    threads: given.number("threads"),
    devices: devices.length === 0 ? undefined : devices,
    cache: given.text("cache"),
    output: given.has("verbose") ? "show" : "hide",
    onWarning: (warning) => say(`${styled("yellow", "warning:")} ${warning}`),
    signal,
  });
  await print(`${server.endpoint}\n`);
  // What waits keeps the program alive; the server alone doesn't.
  const alive = setInterval(() => {}, 0x7fff_ffff);
  try {
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      if (signal.aborted) reject(signal.reason);
    });
    say(`${styled("red", "error:")} the server is gone: ${await Promise.race([server.ended, stopped])}`);
    return EXIT.failed;
  } finally {
    clearInterval(alive);
  }
}
