import assert from "node:assert/strict";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { InvalidArgumentError } from "../../../lib/errors.ts";
import { checkLoad } from "../../../lib/llama/model/load_options.ts";
import { modelPath } from "../../../lib/models/model_path.ts";
import { show } from "../../../base/check.ts";

test("an address as a model's path is refused with what to do", () => {
  for (
    const address of [
      "https://example.org/model.gguf",
      "HTTP://example.org/model.gguf",
      "hf:owner/model",
      "hf://owner/model",
      "huggingface:owner/model",
      "data:application/octet-stream,GGUF",
      new URL("https://example.org/model.gguf"),
    ]
  ) {
    assert.throws(
      () => modelPath(address),
      (error) =>
        error instanceof InvalidArgumentError &&
        /can't be loaded from an address; download the file/.test(error.message) &&
        String(error.value).toLowerCase() === String(address).toLowerCase(),
      String(address),
    );
  }
});

test("a file URL is one in any case, and other paths with colons are left alone", () => {
  const { href } = pathToFileURL("/models/a b.gguf");
  assert.equal(modelPath(href.replace("file:", "FILE:")), modelPath(href));
  for (const path of ["C:\\models\\m.gguf", "c:/m.gguf", "qwen:7b.gguf", "./https://x", "models/hf:x"]) {
    assert.equal(modelPath(path), path);
  }
});

test("a value that can't be looked at is shown all the same", () => {
  for (const target of [{}, []]) {
    const { proxy, revoke } = Proxy.revocable<object>(target, {});
    revoke();
    assert.equal(show(proxy), "an object");
    assert.throws(() => modelPath(proxy as unknown as string), InvalidArgumentError);
    assert.throws(() => checkLoad(proxy), InvalidArgumentError);
    assert.throws(() => checkLoad({ signal: proxy as AbortSignal }), InvalidArgumentError);
  }
  assert.equal(show([1, 2]), "an array of 2");
  assert.equal(show(new Map()), "an object (Map)");
});
