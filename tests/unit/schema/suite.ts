/** The official JSON Schema test suite against grammars: which schemas are refused, which texts. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonSchema, JsonValue } from "../../../lib/json_schema/mod.ts";

/** A draft of the suite. */
export type SuiteDraft = "draft7" | "draft2020-12";

/** A schema of the suite with its texts. */
export interface SuiteCase {
  /** The file, which is named after the keyword. */
  keyword: string;
  /** The suite's words for it. */
  title: string;
  /** The schema. */
  schema: JsonSchema;
  /** Values, and whether they are valid. */
  tests: { description: string; data: JsonValue; valid: boolean }[];
}

/** Reads the cases of a draft from the folder of the suite. */
export function readSuite(folder: string, draft: SuiteDraft): SuiteCase[] {
  const from = join(folder, "tests", draft);
  return readdirSync(from).filter((name) => name.endsWith(".json")).sort().flatMap((name) =>
    JSON.parse(readFileSync(join(from, name), "utf8")).map((one: SuiteCase & { description: string }) => ({
      keyword: name.slice(0, -".json".length),
      title: one.description,
      schema: draft === "draft7" && typeof one.schema === "object"
        ? { $schema: "http://json-schema.org/draft-07/schema#", ...one.schema }
        : one.schema,
      tests: one.tests,
    }))
  );
}

/** The schemas that those of the suite refer to by address. */
export function remoteSchemas(folder: string): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = {};
  const visit = (path: string) => {
    for (const entry of readdirSync(join(folder, "remotes", path), { withFileTypes: true })) {
      const inside = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) visit(inside);
      else if (entry.name.endsWith(".json")) {
        found[`http://localhost:1234/${inside}`] = JSON.parse(readFileSync(join(folder, "remotes", inside), "utf8"));
      }
    }
  };
  visit("");
  const refs = fileURLToPath(new URL("../../../node_modules/ajv/dist/refs/", import.meta.url));
  for (
    const name of [
      "json-schema-draft-07.json",
      ...["schema.json", ...vocabularies].map((one) => `json-schema-2020-12/${one}`),
    ]
  ) {
    const schema = JSON.parse(readFileSync(join(refs, name), "utf8"));
    found[String(schema.$id ?? schema.id).replace(/#$/, "")] = schema;
  }
  return found;
}

const vocabularies = ["applicator", "content", "core", "format-annotation", "meta-data", "unevaluated", "validation"]
  .map((name) => `meta/${name}.json`);

/** The texts of a value: its properties in any order, up to a number of texts. */
export function textsOf(value: JsonValue, limit = 200): string[] {
  if (typeof value !== "object" || value === null) return [JSON.stringify(value)];
  if (Array.isArray(value)) {
    return product(value.map((item: JsonValue) => textsOf(item, limit)), limit).map((items) => `[${items.join()}]`);
  }
  const entries = Object.entries(value).map(([name, one]) =>
    textsOf(one, limit).map((text) => `${JSON.stringify(name)}:${text}`)
  );
  return permutations(entries, limit).flatMap((order) => product(order, limit)).slice(0, limit).map((members) =>
    `{${members.join()}}`
  );
}

function product<T>(lists: readonly (readonly T[])[], limit: number): T[][] {
  let all: T[][] = [[]];
  for (const list of lists) all = all.flatMap((before) => list.map((one) => [...before, one])).slice(0, limit);
  return all;
}

function permutations<T>(list: readonly T[], limit: number): T[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((one, at) => permutations(list.toSpliced(at, 1), limit).map((rest) => [one, ...rest])).slice(
    0,
    limit,
  );
}

/** What is counted for a keyword. */
export interface SuiteCounts {
  schemas: number;
  refused: number;
  unsound: number;
  valid: number;
  validRefused: number;
}

/** A line of what went otherwise than the suite says. */
export interface SuiteFinding {
  kind: "refused" | "unsound" | "valid refused";
  keyword: string;
  title: string;
  detail: string;
}

/** Makes the test of a schema's texts; throws where the schema is refused. */
export type Compile = (schema: JsonSchema) => (text: string) => boolean;

/** Runs cases, and counts by keyword. */
export function runSuite(
  cases: readonly SuiteCase[],
  compile: Compile,
): { counts: Map<string, SuiteCounts>; findings: SuiteFinding[] } {
  const counts = new Map<string, SuiteCounts>();
  const findings: SuiteFinding[] = [];
  for (const { keyword, title, schema, tests } of cases) {
    const count = counts.get(keyword) ?? { schemas: 0, refused: 0, unsound: 0, valid: 0, validRefused: 0 };
    counts.set(keyword, count);
    count.schemas++;
    let allows: ReturnType<Compile>;
    try {
      allows = compile(schema);
    } catch (error) {
      // A schema for which nothing is valid needs no grammar.
      if ((error as { code?: string }).code === "JSON_SCHEMA_CONTRADICTION") {
        for (const { description, valid } of tests) {
          if (!valid) continue;
          count.valid++;
          count.validRefused++;
          findings.push({
            kind: "valid refused",
            keyword,
            title,
            detail: `${description}: contradiction: ${(error as Error).message}`,
          });
        }
        continue;
      }
      count.refused++;
      findings.push({ kind: "refused", keyword, title, detail: String(error) });
      continue;
    }
    for (const { description, data, valid } of tests) {
      const texts = textsOf(data);
      const allowed = texts.find(allows);
      if (valid) count.valid++;
      if (!valid && allowed !== undefined) {
        count.unsound++;
        findings.push({
          kind: "unsound",
          keyword,
          title,
          detail: `${description}: ${allowed} for ${JSON.stringify(schema)}`,
        });
      }
      if (valid && allowed === undefined) {
        count.validRefused++;
        findings.push({
          kind: "valid refused",
          keyword,
          title,
          detail: `${description}: ${texts[0]} for ${JSON.stringify(schema)}`,
        });
      }
    }
  }
  return { counts, findings };
}

/** The sum of all counts. */
export function totalOf(counts: ReadonlyMap<string, SuiteCounts>): SuiteCounts {
  const total: SuiteCounts = { schemas: 0, refused: 0, unsound: 0, valid: 0, validRefused: 0 };
  for (const count of counts.values()) {
    for (const key of Object.keys(total) as (keyof SuiteCounts)[]) total[key] += count[key];
  }
  return total;
}
