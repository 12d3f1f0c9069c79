import assert from "node:assert/strict";
import test from "node:test";
import { ChatTemplateError } from "../../lib/errors.ts";
import { compileChatTemplate } from "../../lib/llama/chat_template.ts";

test("a template gets the messages, the prompt for an answer, and the start and end tokens", async () => {
  const template = await compileChatTemplate(
    "{{ bos_token }}{% for m in messages %}[{{ m['role'] }}]{{ m.content | trim }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
  );
  assert.equal(
    template([{ role: "system", content: " s " }, { role: "user", content: "u" }], "<s>", "</s>"),
    "<s>[system]s</s>[user]u</s>[assistant]",
  );
});

test("a template that doesn't parse, fails or refuses is a typed error with its words", async () => {
  await assert.rejects(
    compileChatTemplate("{% for %}"),
    (error) => error instanceof ChatTemplateError && error.cause instanceof Error,
  );
  const refusing = await compileChatTemplate("{{ raise_exception('roles must alternate') }}");
  assert.throws(
    () => refusing([], "", ""),
    (error) => error instanceof ChatTemplateError && /roles must alternate/.test(error.message),
  );
  const failing = await compileChatTemplate("{{ nothing() }}");
  assert.throws(() => failing([], "", ""), ChatTemplateError);
});
