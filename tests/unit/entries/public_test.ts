import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { entryPoints, firstSentence, type PublicName, publicNames } from "../../../scripts/public_names/read.ts";

const entries = Object.keys(entryPoints());
const names: readonly PublicName[] = entries.flatMap(publicNames);

/** What an entry point exports. */
async function exportsOf(entry: string): Promise<Record<string, unknown>> {
  return await import(new URL(entryPoints()[entry] ?? "", new URL("../../../", import.meta.url)).href) as Record<
    string,
    unknown
  >;
}

test("every entry point's public names have doc comments that begin with a sentence", () => {
  assert.ok(names.length > 500, String(names.length));
  const bare = names.filter(({ doc, file }) => firstSentence(doc) === "" && !file.includes("/ffi/tables/"));
  assert.deepEqual(bare.map(({ entry, name }) => `${entry} ${name}`), []);
});

test("no public name is internal, nor any member of one", () => {
  const found = names.flatMap(({ entry, name, doc, members }) => [
    ...(doc.includes("@internal") ? [`${entry} ${name}`] : []),
    ...members.filter((one) => one.doc.includes("@internal")).map((one) => `${entry} ${name}.${one.name}`),
  ]);
  assert.deepEqual(found, []);
});

test("what can be disposed by a using declaration has dispose() and disposed", () => {
  const disposable = names.filter(({ kind, members }) =>
    kind === "class" && members.some(({ name }) => /^\[Symbol\.(asyncD|d)ispose\]$/.test(name))
  );
  assert.ok(disposable.length > 10, String(disposable.length));
  const lacking = disposable.flatMap(({ entry, name, members }) =>
    ["dispose", "disposed"].filter((member) => !members.some((one) => one.name === member)).map((member) =>
      `${entry} ${name}.${member}`
    )
  );
  assert.deepEqual(lacking, []);
});

test("a class that can be disposed has a picture", async () => {
  let seen = 0;
  for (const entry of entries) {
    for (const [name, value] of Object.entries(await exportsOf(entry))) {
      if (typeof value !== "function" || typeof value.prototype !== "object" || value.prototype === null) continue;
      if (!Object.hasOwn(value.prototype, "constructor")) continue;
      if (!(Symbol.dispose in value.prototype || Symbol.asyncDispose in value.prototype)) continue;
      assert.ok(Object.hasOwn(value.prototype, "toString"), `${entry} ${name} has no toString`);
      assert.ok(Object.hasOwn(value.prototype, inspect.custom), `${entry} ${name} isn't inspected`);
      assert.ok(Object.hasOwn(value.prototype, Symbol.for("Deno.customInspect")), `${entry} ${name}`);
      seen++;
    }
  }
  assert.ok(seen > 10, String(seen));
});
