import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { writeGguf } from "../../../lib/gguf/writer.ts";
import {
  ControlVectorError,
  defaultModelPath,
  InvalidArgumentError,
  type Model,
  ModelNotFoundError,
} from "../../../mod.ts";
import { slow, testModel } from "../support.ts";

let model: Model;

before(async () => {
  model = await testModel();
}, slow);

after(() => model.dispose());

const direction = (shift: number) =>
  new Float32Array(model.info.embeddingSize).map((_, index) => Math.sin(index + shift));
const say = async () => (await model.complete("I feel", { temperature: 0, maxTokens: 8 })).text;

test(
  "a control vector changes what is said, more with a larger scale, nothing with 0, and goes again",
  slow,
  async () => {
    const plain = await say();
    const source = { 10: direction(0), 20: direction(1) };
    await model.setControlVectors([{ source, scale: 5 }]);
    const strong = await say();
    assert.notEqual(strong, plain);
    await model.setControlVectors([{ source, scale: 0 }]);
    assert.equal(await say(), plain);
    await model.setControlVectors([{ source, scale: 5 }, { source, scale: -5 }]);
    assert.equal(await say(), plain);
    await model.setControlVectors([{ source, scale: 2 }, {
      source: new Map(Object.entries(source).map(([layer, values]) => [Number(layer), [...values]])),
      scale: 3,
    }]);
    assert.equal(await say(), strong);
    await model.setControlVectors([{ source, scale: 5 }], { layerStart: 21 });
    assert.equal(await say(), plain);
    await model.setControlVectors([{ source, scale: 5 }], { layerStart: 10, layerEnd: 20 });
    assert.equal(await say(), strong);
    await model.setControlVectors([]);
    assert.equal(await say(), plain);
  },
);

test("a chat's memory is computed anew with the vector", slow, async () => {
  const chat = model.chat();
  await chat.send("Hi", { temperature: 0, maxTokens: 4 });
  await model.setControlVectors([{ source: { 10: direction(0) }, scale: 1 }]);
  const { timings } = await chat.send("And?", { temperature: 0, maxTokens: 4 });
  assert.equal(timings.reusedTokens, 0);
  await model.setControlVectors([]);
});

test("out of a file, and what isn't one", slow, async () => {
  const path = join(tmpdir(), `${crypto.randomUUID()}.gguf`);
  const size = model.info.embeddingSize;
  const write = (name: string, type: "f32" | "f16", data: Float32Array | Uint16Array) =>
    writeGguf(path, { tensors: [{ name, type, shape: [data.length], data }] });
  try {
    await write("direction.10", "f32", direction(0));
    await model.setControlVectors([{ source: { 10: direction(0) }, scale: 5 }]);
    const wanted = await say();
    await model.setControlVectors([{ source: path, scale: 5 }]);
    assert.equal(await say(), wanted);
    for (
      const [name, type, data] of [
        ["direction.0", "f32", direction(0)],
        ["direction.999", "f32", direction(0)],
        ["other", "f32", direction(0)],
        ["direction.1", "f32", new Float32Array(size + 1)],
        ["direction.1", "f16", new Uint16Array(size)],
        ["direction.1", "f32", new Float32Array(size).fill(NaN)],
      ] as const
    ) {
      await write(name, type, data);
      await assert.rejects(model.setControlVectors([{ source: path }]), ControlVectorError, `${name} ${type}`);
    }
    await writeGguf(path, {});
    await assert.rejects(model.setControlVectors([{ source: path }]), ControlVectorError);
    await assert.rejects(model.setControlVectors([{ source: await defaultModelPath() }]), ControlVectorError);
    // What is refused leaves what was.
    assert.equal(await say(), wanted);
  } finally {
    await rm(path, { force: true });
    await model.setControlVectors([]);
  }
});

test("bad input", slow, async () => {
  await assert.rejects(model.setControlVectors([{ source: "/no/such.gguf" }]), ModelNotFoundError);
  await assert.rejects(model.setControlVectors([{ source: { 1: [1, 2] } }]), ControlVectorError);
  await assert.rejects(model.setControlVectors([{ source: { 1: direction(0) }, scale: NaN }]), InvalidArgumentError);
  await assert.rejects(model.setControlVectors([{ source: 5 as never }]), InvalidArgumentError);
  await assert.rejects(model.setControlVectors([{ source: { 1: "x" } as never }]), InvalidArgumentError);
  await assert.rejects(model.setControlVectors(5 as never), InvalidArgumentError);
  await assert.rejects(model.setControlVectors([], { layerStart: 0 }), InvalidArgumentError);
  await assert.rejects(model.setControlVectors([], { layerStart: 5, layerEnd: 4 }), InvalidArgumentError);
});
