import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";
import test from "node:test";
import {
  InvalidArgumentError,
  NativeHangError,
  RemoteLostError,
  RpcConnectError,
  RpcInUseError,
  RpcProtocolError,
  RpcServerError,
} from "../../lib/errors.ts";
import { connectRpc } from "../../lib/ggml/rpc/connect.ts";
import { RpcServer } from "../../lib/ggml/rpc/server.ts";
import type { ModelOptions } from "../../mod.ts";
import { command, runtime, slow, system, testModel } from "./support.ts";

const question = "What is the capital of France?";
const settings = { temperature: 0, maxTokens: 48 };

async function answer(options: ModelOptions = {}): Promise<string> {
  await using model = await testModel(options);
  return (await model.chat({ system }).send(question, settings)).text;
}

/** A server in front of another, or one that says what a test wants. */
async function listen(handler: (socket: Socket) => void): Promise<AsyncDisposable & { endpoint: string }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    handler(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const onLinux = { ...slow, skip: process.platform !== "linux" };

test(
  "a model split over two servers gives the same answer; a lost one is an error, and the program goes on",
  onLinux,
  async () => {
    await using first = await RpcServer.start({ threads: 1 });
    await using second = await RpcServer.start({ threads: 1 });
    const devices = [...(await connectRpc(first.endpoint)).devices, ...(await connectRpc(second.endpoint)).devices];
    assert.equal(devices.length, 2);
    const alone = await answer();
    assert.match(alone, /Paris/);
    const lines: string[] = [];
    assert.equal(await answer({ devices, onLog: ({ text }) => lines.push(text) }), alone);
    for (const { endpoint } of devices) {
      assert.ok(
        lines.some((line) => line.includes(`[${endpoint}] model buffer`)),
        `nothing went to ${endpoint}: ${lines.join("")}`,
      );
    }
    // A second use of the same servers.
    await using model = await testModel({ devices });
    await assert.rejects(testModel({ devices }), RpcInUseError);
    await assert.rejects(connectRpc(first.endpoint), RpcInUseError);
    let pieces = 0;
    const generate = async (): Promise<void> => {
      for await (const _ of model.complete("Once upon a time", { ...settings, maxTokens: 400 })) {
        if (++pieces === 5) await second[Symbol.asyncDispose]();
      }
    };
    await assert.rejects(generate(), RemoteLostError);
    assert.ok(pieces >= 5);
    await assert.rejects(async () => await model.complete("more", settings), RemoteLostError);
    await model.dispose();
    assert.equal(await answer(), alone);
    assert.match(await second.ended, /SIGTERM|code/);
    await assert.rejects(connectRpc(second.endpoint), RpcConnectError);
    // The same address again: ggml's own table has it as lost.
    await using again = await RpcServer.start({ threads: 1, port: Number(second.endpoint.split(":")[1]) });
    assert.equal(again.endpoint, second.endpoint);
    assert.equal(await answer({ devices: (await connectRpc(again.endpoint)).devices }), alone);
  },
);

test("a server that falls silent amid the work is given up", onLinux, async () => {
  await using server = await RpcServer.start({ threads: 1 });
  const [host = "", port = ""] = server.endpoint.split(":");
  let silent = false;
  await using proxy = await listen((socket) => {
    const behind = createConnection(Number(port), host);
    socket.on("data", (chunk) => silent ? undefined : behind.write(chunk));
    behind.on("data", (chunk) => silent ? undefined : socket.write(chunk));
    socket.on("close", () => behind.destroy());
    behind.on("close", () => socket.destroy()).on("error", () => {});
  });
  const { devices } = await connectRpc(proxy.endpoint);
  const model = await testModel({ devices, watchdogMs: 8_000 });
  const generate = async (): Promise<void> => {
    for await (const _ of model.complete("Once upon a time", { ...settings, maxTokens: 400 })) silent = true;
  };
  await assert.rejects(generate(), NativeHangError);
  await model.dispose();
  assert.match(await answer(), /Paris/);
});

test("a model whose server was lost while it had nothing to do can be disposed", onLinux, async () => {
  await using server = await RpcServer.start({ threads: 1 });
  const { devices } = await connectRpc(server.endpoint);
  const model = await testModel({ devices });
  await server[Symbol.asyncDispose]();
  await model.dispose();
  assert.match(await answer(), /Paris/);
});

test("what is no server, or another version, or silent, is told before native code sees it", async () => {
  const words = (bytes: readonly number[]) => (socket: Socket) =>
    void socket.once("data", () => socket.write(Uint8Array.from(bytes)));
  const sized = (size: number, ...bytes: number[]): number[] => [size, 0, 0, 0, 0, 0, 0, 0, ...bytes];
  const hello = (major: number, minor: number): number[] =>
    sized(28, major, minor, 0, 0, ...new Array<number>(24).fill(0));
  const cases: [string, (socket: Socket) => void, new (...args: never[]) => Error][] = [
    ["closes", (socket) => socket.destroy(), RpcConnectError],
    [
      "a web server",
      (socket) => void socket.once("data", () => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")),
      RpcProtocolError,
    ],
    ["a huge answer", words([255, 255, 255, 255, 255, 255, 255, 255]), RpcProtocolError],
    ["an older version", words(hello(6, 0)), RpcProtocolError],
    ["a newer version", words(hello(7, 1)), RpcProtocolError],
    ["half an answer", words(hello(7, 0).slice(0, 20)), RpcConnectError],
    ["no devices", words([...hello(7, 0), ...sized(4, 0, 0, 0, 0)]), RpcProtocolError],
    ["a million devices", words([...hello(7, 0), ...sized(4, 0, 0, 16, 0)]), RpcProtocolError],
    ["silence", () => {}, RpcConnectError],
  ];
  for (const [name, handler, kind] of cases) {
    await using server = await listen(handler);
    await assert.rejects(connectRpc(server.endpoint, { timeoutMs: 300 }), (error) => {
      assert.ok(error instanceof kind, `${name}: ${error}`);
      return true;
    });
    const devices = [{ endpoint: server.endpoint, index: 0, memoryFree: 0, memoryTotal: 0 }];
    // A load has more patience.
    if (!/half|silence/.test(name)) await assert.rejects(testModel({ devices }), kind, name);
    if (name === "silence") {
      const stop = new AbortController();
      const asking = connectRpc(server.endpoint, { signal: stop.signal });
      stop.abort(new Error("enough"));
      await assert.rejects(asking, /enough/);
    }
  }
  for (const endpoint of ["", "host", "host:", "host:0", "host:65536", "::1:80", "300.1.1.1:80", "a b:80", 5, null]) {
    await assert.rejects(connectRpc(endpoint as never), InvalidArgumentError, String(endpoint));
  }
  for (const devices of [[], [5], [{}], [{ endpoint: "x", index: 0 }], [{ endpoint: "x:1", index: -1 }], "RPC0"]) {
    await assert.rejects(testModel({ devices: devices as never }), InvalidArgumentError, JSON.stringify(devices));
  }
});

test("a server's options; one that can't start says why", slow, async () => {
  const bad = [{ host: "localhost" }, { port: 0 }, { threads: 0 }, { devices: "CPU" }, { cache: "/no/such/folder" }, {
    hots: "x",
  }];
  for (const options of bad) {
    await assert.rejects(RpcServer.start(options as never), InvalidArgumentError, JSON.stringify(options));
  }
  await assert.rejects(RpcServer.start({ devices: ["no such device"] }), (error) => {
    assert.ok(error instanceof RpcServerError);
    assert.match(error.message, /there is no device no such device/);
    return true;
  });
  await using taken = await listen((socket) => socket.destroy());
  const port = Number(taken.endpoint.split(":")[1]);
  await assert.rejects(RpcServer.start({ port, timeoutMs: 20_000 }), RpcServerError);
  const warnings: string[] = [];
  await using open = await RpcServer.start({
    host: "0.0.0.0",
    threads: 1,
    devices: ["CPU"],
    onWarning: (text) => warnings.push(text),
  });
  assert.match(warnings.join(), /no password and no encryption/);
  const device = (await connectRpc(open.endpoint.replace("0.0.0.0", "127.0.0.1"))).devices[0];
  assert.ok(device !== undefined && device.memoryTotal > 0);
  await assert.rejects(testModel({ devices: [{ ...device, index: 1 }] }), InvalidArgumentError);
});

test("rpc-server of the CLI: says where it listens, and ends by Ctrl-C", slow, async () => {
  const { endpoint } = await listen(() => {}).then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server;
  });
  const port = endpoint.split(":")[1] ?? "";
  const [program, ...args] = command(runtime, "cli/main.ts", ["rpc-server", "-p", port, "-t", "1"]);
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let stderr = "";
  child.stderr.on("data", (chunk) => stderr += chunk);
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk) => resolve(String(chunk)));
    void ended.then(() => reject(new Error(stderr)));
  });
  assert.equal(line, `127.0.0.1:${port}\n`);
  assert.equal((await connectRpc(`127.0.0.1:${port}`)).devices.length, 1);
  // Not child.kill: after that Deno says that the signal ended the child, whatever its exit code.
  process.kill(child.pid as number, "SIGINT");
  assert.equal(await ended, 130);
  await assert.rejects(connectRpc(`127.0.0.1:${port}`), RpcConnectError);
});
