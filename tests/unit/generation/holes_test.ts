import assert from "node:assert/strict";
import test from "node:test";
import { InvalidArgumentError } from "../../../lib/errors.ts";
import { readControlVectors } from "../../../lib/llama/adapters/control_vectors.ts";
import { checkChat } from "../../../lib/llama/chat/options.ts";
import { checkInfillPrompt } from "../../../lib/llama/generation/infill.ts";
import { checkCompletion } from "../../../lib/llama/generation/options.ts";
import { checkContinuations, checkLabels } from "../../../lib/llama/generation/scoring.ts";
import { checkTokens } from "../../../lib/llama/model/vocab_check.ts";

/** An array with elements at its ends and a hole at index 1. */
function withHole(element: unknown): never {
  const array = new Array(3);
  array[0] = element;
  array[2] = element;
  return array as never;
}

const complete = (options: unknown) => checkCompletion("model.complete", options as never);

/** Every list that is taken, and what is done with one that has a hole. */
const lists: Readonly<Record<string, () => unknown>> = {
  stop: () => complete({ stop: withHole("a") }),
  bannedStrings: () => complete({ bannedStrings: withHole("a") }),
  drySequenceBreakers: () => complete({ drySequenceBreakers: withHole("a") }),
  logitBias: () => complete({ logitBias: withHole({ token: 1, bias: 1 }) }),
  samplers: () => complete({ samplers: withHole(() => {}) }),
  lora: () => complete({ lora: withHole({}) }),
  grammarTriggers: () => complete({ grammar: 'root ::= "a"', grammarTriggers: withHole("a") }),
  files: () => checkInfillPrompt("a", "b", { files: withHole({ name: "a", text: "b" }) }),
  continuations: () => checkContinuations("continuations", withHole("a"), 0),
  labels: () => checkLabels(withHole("a"), ""),
  history: () => checkChat({ history: withHole({ role: "user", content: "a" }) }),
  vectors: () => readControlVectors(withHole({ source: {} }), undefined, { embeddingSize: 1, layerCount: 2 }),
};

for (const [name, use] of Object.entries(lists)) {
  test(`a hole in ${name} is refused with its index`, async () => {
    await assert.rejects(async () => await use(), (error) => {
      assert.ok(error instanceof InvalidArgumentError, String(error));
      assert.match(error.message, new RegExp(`^${name} has a hole at index 1; `));
      return true;
    });
  });
}

test("a hole among tokens is refused with its index", () => {
  assert.throws(() => checkTokens(withHole(1), 2), /tokens\[1\] is undefined; expected an integer from 0 to 1/);
});

test("a Proxy that was revoked is refused by every list and object", async () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  const revoked = proxy as never;
  const uses = [
    ...["stop", "bannedStrings", "logitBias", "samplers", "lora", "seed"].map((name) => () =>
      complete({ [name]: revoked })
    ),
    () => complete(revoked),
    () => checkInfillPrompt("a", "b", { files: revoked }),
    () => checkChat({ history: revoked }),
    () => checkContinuations("continuations", revoked, 0),
    () => checkLabels(revoked, ""),
    () => checkTokens(revoked, 2),
    () => readControlVectors(revoked, undefined, { embeddingSize: 1, layerCount: 2 }),
    () => readControlVectors([{ source: revoked }], undefined, { embeddingSize: 1, layerCount: 2 }),
    () => readControlVectors([{ source: { 1: revoked } }], undefined, { embeddingSize: 1, layerCount: 2 }),
  ];
  for (const use of uses) await assert.rejects(async () => await use(), InvalidArgumentError);
});
