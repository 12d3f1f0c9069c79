import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { deserializeError, serializeError } from "../../../base/error.ts";
import { GgmlError, type SerializedError } from "../../../base/errors.ts";
import { readModules } from "../../../scripts/check_layers/imports.ts";
import { ROOTS } from "../../../scripts/check_layers/rules.ts";
import { entryPoints } from "../../../scripts/public_names/read.ts";

const root = new URL("../../../", import.meta.url);
const modules = readModules(fileURLToPath(root), ROOTS);

/** What an entry point exports. */
async function exportsOf(entry: string): Promise<Record<string, unknown>> {
  return await import(new URL(entryPoints()[entry] ?? "", root).href) as Record<string, unknown>;
}

/** The classes of errors that an entry point exports, with their codes. */
async function errorsOf(entry: string): Promise<Map<string, string>> {
  const classes = Object.entries(await exportsOf(entry)).filter(([, value]) => isErrorClass(value));
  return new Map(classes.map(([name, value]) => [name, (value as typeof GgmlError).code]));
}

function isErrorClass(value: unknown): value is typeof GgmlError {
  return typeof value === "function" && (value === GgmlError || value.prototype instanceof GgmlError);
}

/** The properties of an error that can be enumerated. */
function propertiesOf(error: GgmlError): Record<string, unknown> {
  return { ...error };
}

/** A value of the same type for each property that a class has. */
function filled(kind: typeof GgmlError): Record<string, unknown> {
  const details: Record<string, unknown> = { value: [1, "two"], expected: "three" };
  for (const [name, value] of Object.entries(propertiesOf(new kind("empty")))) {
    if (name === "name" || name === "code" || name in details) continue;
    details[name] = Array.isArray(value) ? [{ [name]: 1 }] : `a ${name}`;
  }
  return details;
}

/** An error after a way through a port. */
function sent(error: GgmlError): unknown {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(serializeError(error));
  const arrived = receiveMessageOnPort(port2) as { message: SerializedError };
  port1.close();
  return deserializeError(arrived.message);
}

/** The names of all classes that extend GgmlError with a code of their own, as the sources have them. */
function errorClasses(): Set<string> {
  const found = new Set(["GgmlError"]);
  const sources = [...modules.values()].map(({ source }) => source).join("\n");
  const declared = [...sources.matchAll(/\bclass (\w+) extends (\w+) \{(?!\})/g)];
  for (const parent of found) for (const [, name = "", base] of declared) if (base === parent) found.add(name);
  return found;
}

/** Every module that an entry point runs, those of its native threads too. */
function reached(entry: string): string[] {
  const start = (entryPoints()[entry] ?? "").replace("./", "");
  const folder = start.replace(/mod\.ts$/, "");
  const found = new Set([start, `${folder}thread/tasks.ts`]);
  for (const path of found) {
    for (const { kind, target } of modules.get(path)?.imports ?? []) {
      if ((kind === "value" || kind === "dynamic") && modules.has(target)) found.add(target);
    }
  }
  return [...found];
}

test("every error class has a code of its own, and docs/errors.md has each with its cause and cure", async () => {
  const all = new Map<string, string>();
  for (const entry of Object.keys(entryPoints())) for (const one of await errorsOf(entry)) all.set(...one);
  assert.equal(new Set(all.values()).size, all.size);
  const text = await readFile(new URL("docs/errors.md", root), "utf8");
  const rows = [...text.matchAll(/^\| `(\w+)` +\| `(\w+)` +\| ([\w`].*) \| ([\w`].*) \|$/gm)];
  const documented = rows.map(([, code, name]) => `${name} ${code}`).sort();
  assert.deepEqual(documented, [...all].map(([name, code]) => `${name} ${code}`).sort());
});

test("every entry point exports GgmlError and each error class that its modules throw", async () => {
  const ours = errorClasses();
  assert.ok(ours.size > 60, String(ours.size));
  for (const entry of Object.keys(entryPoints())) {
    const exported = await errorsOf(entry);
    assert.ok(exported.has("GgmlError"), entry);
    let thrown = 0;
    for (const path of reached(entry)) {
      for (const [, name = ""] of (modules.get(path)?.source ?? "").matchAll(/\bnew (\w+Error)\(/g)) {
        // Others are errors of the language, or stay inside of their folder.
        if (!ours.has(name)) continue;
        assert.ok(exported.has(name), `${entry} doesn't export ${name}, which ${path} throws`);
        thrown++;
      }
    }
    assert.ok(thrown > 3, `${entry}: ${thrown}`);
  }
});

test("an error is made of any message and details, and is plain data for a log", async () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const odd: unknown[] = [true, null, 5, "x", Symbol.iterator, revoked.proxy, [], () => {}, { value: cyclic }, {
    value: revoked.proxy,
    cause: revoked.proxy,
  }, { value: 1n, cause: cyclic }];
  for (const entry of Object.keys(entryPoints())) {
    for (const value of Object.values(await exportsOf(entry))) {
      if (!isErrorClass(value)) continue;
      for (const one of odd) {
        const error: GgmlError = new value(one as string, one as object);
        assert.equal(error.code, value.code);
        assert.equal((JSON.parse(JSON.stringify(error)) as { code: string }).code, value.code);
      }
    }
  }
});

test("an error of every class crosses to another thread with all its properties", async () => {
  let withOwn = 0;
  for (const entry of Object.keys(entryPoints())) {
    for (const value of Object.values(await exportsOf(entry))) {
      if (!isErrorClass(value)) continue;
      const details = filled(value);
      if (Object.keys(details).length > 2) withOwn++;
      const error: GgmlError = new value("made", { ...details, cause: new value("its cause", details) });
      for (const [name, one] of Object.entries(details)) assert.deepEqual(propertiesOf(error)[name], one, name);
      const arrived = sent(error);
      assert.ok(arrived instanceof value, value.name);
      assert.deepEqual(propertiesOf(arrived), propertiesOf(error));
      assert.deepEqual([arrived.message, arrived.stack], [error.message, error.stack]);
      assert.ok(arrived.cause instanceof value, value.name);
      assert.deepEqual(propertiesOf(arrived.cause), propertiesOf(error.cause as GgmlError));
      const json = JSON.parse(JSON.stringify(error)) as SerializedError;
      assert.deepEqual({ ...propertiesOf(error), ...json.properties }, propertiesOf(error));
    }
  }
  assert.ok(withOwn >= 6, String(withOwn));
});
