import assert from "node:assert/strict";
import test from "node:test";
import { command, run, slow } from "./support.ts";

test("nothing of a model outlives its dispose, as Deno's sanitizers see it", slow, async () => {
  const [deno] = command("deno", "", []);
  const { code, stdout, stderr } = await run([deno, "test", "-A", "--no-check", "tests/model/sanitized_child.ts"]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /2 passed/);
});
