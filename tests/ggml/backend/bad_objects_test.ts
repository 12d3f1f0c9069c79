import assert from "node:assert/strict";
import { test } from "node:test";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import { compareBackends, GraphCopy } from "../../../lib/ggml/backend/graph_copy.ts";
import { BackendBuffer } from "../../../lib/ggml/backend/buffer.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Scheduler } from "../../../lib/ggml/scheduler/scheduler.ts";
import { copyTensor, fillBytes, getBytes, setBytes, setRows } from "../../../lib/ggml/backend/tensor_copy.ts";
import { openReference } from "../reference.ts";

const { registry, device } = await openReference();
const cpu = registry.device("CPU").open({ threads: 1 });
const context = await GgmlContext.create({ dataBytes: 4096 });
const tensor = ops.sqr(context, context.from([1, 2, 3]));
const graph = new Graph(context).forward(tensor);
const buffer = cpu.alloc(64);
const event = device.event();
const scheduler = new Scheduler([cpu]);
const revoked = Proxy.revocable({}, {});
revoked.revoke();

/** What none of the objects is. */
const nothing: readonly unknown[] = [
  undefined,
  null,
  0,
  5n,
  "text",
  true,
  {},
  [],
  () => {},
  Symbol("s"),
  revoked.proxy,
];
const data = new Uint8Array(4);
const rows = { size: 1, count: 1, tensorStride: 1 };

/** Each method with one object in the place of which all others are put. */
const calls: Readonly<Record<string, [call: (value: never) => unknown, right: unknown]>> = {
  "backend.compute": [(value) => cpu.compute(value), graph],
  "backend.computeSync": [(value) => cpu.computeSync(value), graph],
  "backend.begin": [(value) => cpu.begin(value), graph],
  "backend.plan": [(value) => cpu.plan(value), graph],
  "backend.supportsOperation": [(value) => cpu.supportsOperation(value), tensor],
  "backend.offloadsOperation": [(value) => cpu.offloadsOperation(value), tensor],
  "backend.supportsBufferType": [(value) => cpu.supportsBufferType(value), cpu.bufferType],
  "backend.setAsync": [(value) => cpu.setAsync(value, data), tensor],
  "backend.getAsync": [(value) => cpu.getAsync(value, data), tensor],
  "backend.setRowsAsync": [(value) => cpu.setRowsAsync(value, data, rows), tensor],
  "backend.copyAsync": [(value) => cpu.copyAsync(value, tensor, cpu), tensor],
  "device.supportsOperation": [(value) => device.supportsOperation(value), tensor],
  "device.offloadsOperation": [(value) => device.offloadsOperation(value), tensor],
  "device.supportsBufferType": [(value) => device.supportsBufferType(value), cpu.bufferType],
  "bufferType.allocSize": [(value) => cpu.bufferType.allocSize(value), tensor],
  "buffer.place": [(value) => buffer.place(value, 0), tensor],
  "Buffer.initView": [(value) => BackendBuffer.initView(value), tensor],
  "event.record": [(value) => event.record(value), cpu],
  "event.wait": [(value) => event.wait(value), cpu],
  "registry.unload": [(value) => registry.unload(value), registry.registration("CPU")],
  "new Scheduler": [(value) => new Scheduler([value, cpu]), cpu],
  "scheduler.assign, node": [(value) => scheduler.assign(value, cpu), tensor],
  "scheduler.assign, backend": [(value) => scheduler.assign(tensor, value), cpu],
  "scheduler.backendOf": [(value) => scheduler.backendOf(value), tensor],
  "scheduler.bufferSize": [(value) => scheduler.bufferSize(value), cpu],
  "scheduler.reserve": [(value) => scheduler.reserve(value), graph],
  "scheduler.reserveSizes": [(value) => scheduler.reserveSizes(value), graph],
  "scheduler.split": [(value) => scheduler.split(value), graph],
  "scheduler.allocate": [(value) => scheduler.allocate(value), graph],
  "scheduler.compute": [(value) => scheduler.compute(value), graph],
  "scheduler.computeSync": [(value) => scheduler.computeSync(value), graph],
  "scheduler.evaluate": [(value) => scheduler.evaluate(value).next(), graph],
  "new GraphCopy, backend": [(value) => new GraphCopy(value, graph), cpu],
  "new GraphCopy, graph": [(value) => new GraphCopy(cpu, value), graph],
  "compareBackends, second": [(value) => compareBackends(cpu, value, graph, () => {}), cpu],
  "compareBackends, graph": [(value) => compareBackends(cpu, cpu, value, () => {}), graph],
  "setBytes": [(value) => setBytes(value, data), tensor],
  "getBytes": [(value) => getBytes(value, data), tensor],
  "fillBytes": [(value) => fillBytes(value, 0), tensor],
  "setRows": [(value) => setRows(value, data, rows), tensor],
  "copyTensor": [(value) => copyTensor(value, tensor), tensor],
};

for (const [name, [call, right]] of Object.entries(calls)) {
  test(`${name} takes nothing but what it should`, async () => {
    const others = [tensor, graph, cpu, buffer, cpu.bufferType, event, scheduler, context, device, registry];
    const kind = (right as object).constructor;
    for (const value of [...nothing, ...others.filter((one) => one.constructor !== kind)]) {
      await assert.rejects(async () => await call(value as never), { code: "INVALID_ARGUMENT" }, String(typeof value));
    }
  });
}
