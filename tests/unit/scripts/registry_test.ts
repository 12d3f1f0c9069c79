import assert from "node:assert/strict";
import test from "node:test";
import { vocabulary } from "../../../ffi/checked/vocabulary.ts";
import { requirementsOf } from "../../../ffi/requirements/mod.ts";
import { functionNames } from "../../../ffi/tables.ts";
import { guardsOf } from "../../../scripts/registry/guards.ts";
import { registryFaults, requirementRows } from "../../../scripts/registry/table.ts";

test("each requirement of a C function has a check and a test, or the reason why it has none", () => {
  const rows = requirementRows();
  assert.ok(rows.length > 5000, String(rows.length));
  assert.deepEqual(rows.filter(({ checked, tested }) => checked === null || tested === null), []);
  assert.deepEqual(registryFaults(), []);
});

test("conditions use names of parameters and of the vocabulary, and no word hides a parameter that is called", () => {
  const words = new Set(Object.keys(vocabulary({} as never)));
  const globals = new Set(["null", "true", "false", "new", "Number", "BigInt", "Math", "Set"]);
  for (const name of functionNames()) {
    const { shape, conditions } = requirementsOf(name);
    const parameters = new Set(shape.parameters.map((one) => one.name));
    for (const condition of conditions) {
      const own = new Set([...condition.matchAll(/\(([\w, ]+)\) =>/g)].flatMap(([, names = ""]) => names.split(", ")));
      const code = condition.replaceAll(/'[^']*'/g, "");
      for (const [, word = ""] of code.matchAll(/(?<![.\w])([A-Za-z_]\w*)/g)) {
        const isKnown = [parameters, words, globals, own].some((names) => names.has(word));
        assert.ok(isKnown, `${name}: ${word} in ${condition}`);
      }
      for (const [, word = ""] of code.matchAll(/(?<![.\w])(\w+)\(/g)) {
        assert.ok(!parameters.has(word), `${name}: ${word} in ${condition}`);
      }
    }
  }
});

test("guards are errors that are thrown and functions that refuse, by file, declaration and number", () => {
  const text = `function check(value: number): number {
  if (value < 0) throw new RangeError("throw new Error()");
  return value > 9 ? refuse("value", value) : value; // refuse(value)
}
function refuse(): never {
  throw failure();
}
class Box {
  fill(): void {
    this.#refuse();
    return { ...failed("a") };
  }
  #refuse(): never {
    throw new TypeError();
  }
}
`;
  const guards = guardsOf("lib/a.ts", text);
  assert.deepEqual(guards.map(({ id, kind }) => `${id} ${kind}`), [
    "lib/a.ts check 1 throw",
    "lib/a.ts check 2 call",
    "lib/a.ts refuse 1 throw",
    "lib/a.ts Box.fill 1 call",
    "lib/a.ts Box.#refuse 1 throw",
  ]);
  assert.deepEqual(guards.map(({ start, end }) => text.slice(start, end)), [
    "throw ",
    "refuse",
    "throw ",
    "this.#refuse",
    "throw ",
  ]);
});
