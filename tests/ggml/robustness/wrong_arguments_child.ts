// Calls every function, constructor, method and setter of ./ggml with what it doesn't take. Writes what was called, and each error that has no code.
import * as ggml from "../../../lib/ggml/mod.ts";
import process from "node:process";
import { openReference } from "../reference.ts";

const { device } = await openReference();
const registry = await ggml.Registry.open();
const { native } = registry;
const cpu = registry.device("CPU").open({ threads: 1 });
const context = await ggml.GgmlContext.create({ dataBytes: 1 << 16 });
const tensor = context.from([1, 2, 3, 4]);
const graph = new ggml.Graph(context, { gradients: true }).forward(ggml.ops.sqr(context, tensor));
const jsDevice = await ggml.JsDevice.create({ name: "Mine", supports: () => false, compute: () => {} });
const weights = await ggml.GgmlContext.create();
const inputs = weights.tensor("f32", [1, 4]);
const slope = weights.tensor("f32", [1, 1]).setParam();
const buffer = ggml.allocateContext(weights, cpu);
slope.write([0]);
const operators = await ggml.GgmlContext.create();
const outputs = ggml.ops.mulMat(operators, slope, inputs);
const copied = new ggml.Graph(operators).forward(outputs);

/** An object of each class, of which each method is called. */
const instances: Record<string, object> = {
  Registry: registry,
  BackendModule: registry.registration("CPU"),
  Device: registry.device("CPU"),
  Backend: cpu,
  BufferType: cpu.bufferType,
  BackendBuffer: cpu.alloc(64),
  BackendEvent: device.event(),
  JsDevice: jsDevice,
  Scheduler: new ggml.Scheduler([cpu]),
  GgmlContext: await ggml.GgmlContext.create({ dataBytes: 1 << 16 }),
  Graph: graph,
  Tensor: tensor,
  GraphAllocator: new ggml.GraphAllocator(cpu.bufferType),
  LinearAllocator: new ggml.LinearAllocator(cpu.alloc(64)),
  Optimizer: await ggml.Optimizer.create({ backends: [cpu], inputs, outputs, loss: "meanSquaredError" }),
  Dataset: await ggml.Dataset.create({ count: 4, datapointSize: 1, labelSize: 1 }),
  TrainingResult: await ggml.TrainingResult.create(),
  NativeGguf: await ggml.NativeGguf.empty(),
  GraphPlan: cpu.plan(graph),
};

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const wrong: Record<string, unknown> = {
  nothing: undefined,
  null: null,
  number: 5,
  text: "x",
  object: {},
  array: [],
  holes: [, 1],
  revoked: revoked.proxy,
  "[revoked]": [revoked.proxy, revoked.proxy, revoked.proxy, revoked.proxy],
  "{ revoked }": { metadata: revoked.proxy, tensors: [revoked.proxy], size: revoked.proxy, inPlace: revoked.proxy },
  pairs: { metadata: [5] },
  "null alignment": { metadata: { "general.alignment": null } },
  function: () => {},
  symbol: Symbol("wrong"),
  bigint: 7n,
};

/** Their constructors are private, or internal: only the declarations say so. */
const privateConstructors = new Set([
  "Registry",
  "Optimizer",
  "Dataset",
  "NativeGguf",
  "RemoteBackend",
  "RpcServer",
  "GgufFile",
]);

/** Calls that would do what they are asked for and take what others need. */
const omitted = new Set(["dispose", "freeQuantizeTables", "constructor"]);

let calls = 0;
async function attempt(where: string, call: (...args: unknown[]) => unknown): Promise<void> {
  const lists: [string, unknown[]][] = [["()", []]];
  for (const [name, value] of Object.entries(wrong)) {
    for (const count of [1, 2, 3]) lists.push([`(${Array(count).fill(name).join(", ")})`, Array(count).fill(value)]);
    lists.push([`(context, ${name})`, [context, value]], [`(tensor, ${name})`, [tensor, value]]);
    lists.push([`(context, tensor, ${name})`, [context, tensor, value]]);
    // An address can't be checked: the raw layer's word is taken for it.
    if (typeof value !== "bigint") lists.push([`(native, ${name})`, [native, value]]);
    lists.push([`(backend, ${name})`, [cpu, value]], [`(graph, ${name})`, [graph, value]]);
    lists.push([`("f32", ${name})`, ["f32", value]]);
  }
  for (const [what, args] of lists) {
    calls++;
    process.stderr.write(`${where}${what}\n`);
    try {
      const result = call(...args);
      if (typeof result === "object" && result !== null && Symbol.asyncIterator in result) {
        await (result as unknown as AsyncIterator<unknown>).next();
      } else await result;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (!(error instanceof Error) || typeof code !== "string") {
        console.log(JSON.stringify({ where, what, error: String(error).slice(0, 120) }));
      }
    }
  }
}

const isClass = (value: unknown): value is { new (...args: unknown[]): object; prototype: object } =>
  typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));

async function walk(name: string, value: unknown): Promise<void> {
  if (typeof value !== "function") return;
  if (!isClass(value)) return await attempt(name, value as (...args: unknown[]) => unknown);
  if (value.prototype instanceof Error) return;
  if (!privateConstructors.has(name)) await attempt(`new ${name}`, (...args) => new value(...args));
  for (const key of Object.getOwnPropertyNames(value)) {
    const member = (value as unknown as Record<string, unknown>)[key];
    if (typeof member === "function") {
      await attempt(`${name}.${key}`, (...args) => (member as (...a: unknown[]) => unknown).apply(value, args));
    }
  }
  const instance = instances[name] as Record<string, unknown> | undefined;
  if (instance === undefined) return;
  for (const [key, { value: method, set }] of Object.entries(Object.getOwnPropertyDescriptors(value.prototype))) {
    if (omitted.has(key)) continue;
    if (typeof method === "function") {
      await attempt(`${name}#${key}`, (...args) => (method as (...a: unknown[]) => unknown).apply(instance, args));
    }
    if (set !== undefined) await attempt(`${name}#${key} = `, (one) => instance[key] = one);
  }
}

for (const [name, value] of Object.entries(ggml)) if (name !== "ops" && !omitted.has(name)) await walk(name, value);
for (const [name, value] of Object.entries(ggml.ops)) await walk(`ops.${name}`, value);
// What lives to the end.
console.log(JSON.stringify({ calls, alive: !buffer.disposed && copied.length > 0 }));
process.exit(0);
