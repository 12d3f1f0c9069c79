import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import {
  DisposedError,
  InvalidArgumentError,
  NotAllocatedError,
  RemoteLostError,
  RpcInUseError,
  UnsupportedOperationError,
} from "../../../lib/errors.ts";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { connectRpc } from "../../../lib/ggml/rpc/connect.ts";
import { RemoteBackend } from "../../../lib/ggml/rpc/remote_backend.ts";
import type { RemoteDevice } from "../../../lib/ggml/rpc/protocol.ts";
import { RpcServer } from "../../../lib/ggml/rpc/server.ts";

const slow = { timeout: 120_000, skip: process.platform !== "linux" };

async function device(server: RpcServer): Promise<RemoteDevice> {
  const { devices } = await connectRpc(server.endpoint);
  return devices[0] as RemoteDevice;
}

test("a graph is computed on a device of another process", slow, async () => {
  await using server = await RpcServer.start({ threads: 1 });
  const place = await device(server);
  const remote = await RemoteBackend.open(place);
  await assert.rejects(RemoteBackend.open(place), RpcInUseError);
  using context = await GgmlContext.create();
  const a = context.tensor("f32", [3, 2], "a");
  const b = context.tensor("f32", [3, 4], "b");
  const product = ops.mulMat(context, a, b);
  const half = context.tensor("f16", [2], "half");
  using graph = new Graph(context).forward(product);
  await assert.rejects(remote.compute(graph), NotAllocatedError);
  await assert.rejects(remote.write(a, [1, 2, 3, 4, 5, 6]), NotAllocatedError);
  await remote.allocate(context);
  await remote.write(a, [1, 2, 3, 4, 5, 6]);
  await remote.write(b, [1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1]);
  await remote.write(half, [0.5, -2]);
  await remote.compute(graph);
  assert.deepEqual([...await remote.read(product)], [1, 4, 2, 5, 3, 6, 6, 15]);
  assert.deepEqual([...await remote.read(half)], [0.5, -2]);
  await remote.write(b, new Array(12).fill(1));
  await remote.compute(graph);
  assert.deepEqual([...await remote.read(product)], [6, 15, 6, 15, 6, 15, 6, 15]);
  await assert.rejects(remote.write(a, [1]), InvalidArgumentError);
  assert.throws(() => a.read(), UnsupportedOperationError);
  assert.throws(() => a.write([1, 2, 3, 4, 5, 6]), UnsupportedOperationError);
  await assert.rejects(remote.allocate(context), { code: "GRAPH" });
  await remote[Symbol.asyncDispose]();
  await remote[Symbol.asyncDispose]();
  await assert.rejects(remote.read(a), DisposedError);
  assert.equal(a.isAllocated, false);
  // The server serves the next one.
  await using again = await RemoteBackend.open(place);
  await again.allocate(context);
  await again.write(half, [1, 2]);
  assert.deepEqual([...await again.read(half)], [1, 2]);
});

test("a server that is lost is an error of the work under way, and of all after it", slow, async () => {
  await using server = await RpcServer.start({ threads: 1 });
  const remote = await RemoteBackend.open(await device(server));
  using context = await GgmlContext.create();
  const a = context.tensor("f32", [4], "a");
  const sum = ops.sum(context, a);
  await remote.allocate(context);
  await server[Symbol.asyncDispose]();
  await assert.rejects(remote.write(a, [1, 2, 3, 4]).then(() => remote.read(a)), RemoteLostError);
  await assert.rejects(remote.read(sum), RemoteLostError);
  await remote[Symbol.asyncDispose]();
  assert.equal(a.isAllocated, false);
});

test("a view made after its tensor lay there is read there, and nowhere else", slow, async () => {
  await using server = await RpcServer.start({ threads: 1 });
  const remote = await RemoteBackend.open(await device(server));
  using context = await GgmlContext.create();
  const x = context.tensor("f32", [8]);
  await remote.allocate(context);
  await remote.write(x, [1, 2, 3, 4, 5, 6, 7, 8]);
  const view = ops.reshape(context, x, [4, 2]);
  assert.deepEqual([...await remote.read(view)], [1, 2, 3, 4, 5, 6, 7, 8]);
  for (const use of [() => view.read(), () => view.readBytes(), () => view.view(), () => view.zero()]) {
    assert.throws(use, UnsupportedOperationError);
  }
  await remote.dispose();
  assert.throws(() => view.read(), NotAllocatedError);
});

test("memory that is being allocated while its backend is disposed goes, too", slow, async () => {
  await using server = await RpcServer.start({ threads: 1 });
  const remote = await RemoteBackend.open(await device(server));
  using context = await GgmlContext.create();
  const x = context.tensor("f32", [8]);
  const allocated = remote.allocate(context);
  await Promise.all([allocated, remote.dispose()]);
  assert.equal(x.isAllocated, false);
  assert.throws(() => x.read(), NotAllocatedError);
});
