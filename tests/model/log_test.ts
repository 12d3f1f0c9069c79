import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import type { LogLine } from "../../mod.ts";
import { slow, testModel } from "./support.ts";

/** Elsewhere no log is kept. */
const linux = process.platform === "linux" ? test : () => {};

linux(
  "onLog gets what llama.cpp logs for its model, each line once and in order, and nothing of another's",
  slow,
  async () => {
    const mine: LogLine[] = [];
    const few: LogLine[] = [];
    const [model, other] = await Promise.all([
      testModel({ onLog: (line) => mine.push(line) }),
      testModel({ onLog: (line) => few.push(line), logLevel: "error" }),
    ]);
    try {
      const text = mine.map((line) => line.text).join("\n");
      assert.equal(text.match(/loaded meta data with/g)?.length, 1);
      assert.ok(text.indexOf("loaded meta data with") < text.indexOf("n_ctx"), text);
      assert.equal(new Set(mine.map((line) => line.tid)).size, 1);
      assert.ok(mine.every((line) => ["info", "warn", "error"].includes(line.level)));
      assert.deepEqual(few, []);
    } finally {
      await model.dispose();
      await other.dispose();
    }
  },
);
