import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { JsonSchemaError } from "../../../lib/errors.ts";
import { GrammarMatcher, parseGrammar } from "../../../lib/gbnf/mod.ts";
import { schemaToGrammar } from "../../../lib/json_schema/mod.ts";

/** Upstream's own expectations, read from the fetched sources. */
const folder = fileURLToPath(new URL("../../../csrc/upstream/llama.cpp/tests", import.meta.url));
const integration = join(folder, "test-grammar-integration.cpp");
const conversion = join(folder, "test-json-schema-to-grammar.cpp");
const missing = existsSync(integration) ? false : "the fetched sources aren't here: npm run setup";

/** Something of C++ that is read: a string, or a call of `token(…)` as the number. */
type Piece = string | number;

/** Texts as lists of pieces, and what they should do. */
interface Expectation {
  kind: "schema" | "grammar";
  title: string;
  source: string;
  passing: Piece[][];
  failing: Piece[][];
}

/** Reads `test_schema(…)` and `test_grammar(…)` calls. */
class CppReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  expectations(): Expectation[] {
    const found: Expectation[] = [];
    const call = /^ {4}test_(schema|grammar)\(/gm;
    for (let match = call.exec(this.#text); match !== null; match = call.exec(this.#text)) {
      this.#at = call.lastIndex;
      const title = this.#string();
      this.#expect(",");
      const source = this.#string();
      this.#expect(",");
      const passing = this.#list();
      this.#expect(",");
      found.push({ kind: match[1] as "schema", title, source, passing, failing: this.#list() });
    }
    return found;
  }

  #skip(): void {
    const space = /(?:\s|\/\/[^\n]*)*/y;
    space.lastIndex = this.#at;
    space.exec(this.#text);
    this.#at = space.lastIndex;
  }

  #take(text: string): boolean {
    this.#skip();
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw new Error(`no ${text} at ${this.#text.slice(this.#at, this.#at + 60)}`);
  }

  #string(): string {
    const piece = this.#piece();
    if (typeof piece !== "string") throw new Error("no string");
    return piece;
  }

  #piece(): Piece {
    this.#skip();
    const number = /token\((\d+)\)/y;
    number.lastIndex = this.#at;
    const token = number.exec(this.#text);
    if (token !== null) {
      this.#at = number.lastIndex;
      return Number(token[1]);
    }
    const raw = /R"([^(\s\\)]*)\(([\s\S]*?)\)\1"/y;
    raw.lastIndex = this.#at;
    const rawMatch = raw.exec(this.#text);
    if (rawMatch !== null) {
      this.#at = raw.lastIndex;
      return rawMatch[2] as string;
    }
    const plain = /"(?:[^"\\\n]|\\.)*"/y;
    plain.lastIndex = this.#at;
    const plainMatch = plain.exec(this.#text);
    if (plainMatch === null) throw new Error(`no string at ${this.#text.slice(this.#at, this.#at + 60)}`);
    this.#at = plain.lastIndex;
    return JSON.parse(plainMatch[0]);
  }

  #list(): Piece[][] {
    this.#expect("{");
    const list: Piece[][] = [];
    while (!this.#take("}")) {
      const pieces = [this.#piece()];
      while (this.#take("+")) pieces.push(this.#piece());
      list.push(pieces);
      this.#take(",");
    }
    return list;
  }
}

function matches(source: string, pieces: readonly Piece[]): boolean {
  const matcher = new GrammarMatcher(parseGrammar(source));
  const fine = pieces.every((piece) => {
    if (typeof piece === "number") return matcher.acceptToken(piece, `<[${piece}]>`);
    return [...piece].every((char) => matcher.acceptToken(0, char));
  });
  return fine && matcher.canEnd;
}

/** Upstream refuses all whole numbers of more than 16 digits, though they are valid. */
function isLargeInteger(pieces: readonly Piece[]): boolean {
  return /^-?[1-9]\d{16,}$/.test(pieces.join(""));
}

/** Where this library knowingly does something else, and why. */
const differs: Readonly<Record<string, string>> = {
  "required props":
    "it has uniqueItems, which no grammar can express for any strings; it is refused here and ignored there",
};

test("upstream's texts that its grammars and schemas allow and refuse", { skip: missing }, () => {
  const expectations = new CppReader(readFileSync(integration, "utf8")).expectations();
  const counts = { schema: 0, grammar: 0, texts: 0, different: 0, wider: 0 };
  for (const { kind, title, source, passing, failing } of expectations) {
    const reason = differs[title];
    if (reason !== undefined) {
      assert.throws(() => schemaToGrammar(JSON.parse(source)), JsonSchemaError, reason);
      counts.different++;
    }
    const schema = source.replace('"uniqueItems": true', '"x-unique": true');
    const grammar = kind === "schema" ? schemaToGrammar(JSON.parse(schema)) : source;
    for (const one of passing) {
      assert.ok(matches(grammar, one), `${title}: ${one.join("")} should be allowed\n${grammar}`);
    }
    for (const one of failing) {
      if (kind === "schema" && isLargeInteger(one)) {
        counts.wider++;
        continue;
      }
      assert.ok(!matches(grammar, one), `${title}: ${one.join("")} should be refused\n${grammar}`);
    }
    counts[kind]++;
    counts.texts += passing.length + failing.length;
  }
  console.log(
    `upstream: ${counts.schema} schemas and ${counts.grammar} grammars with ${counts.texts} texts as expected, ${counts.different} schema knowingly different, ${counts.wider} large integers not looked at`,
  );
  assert.equal(counts.different, Object.keys(differs).length);
  assert.ok(counts.schema >= 30 && counts.grammar >= 14 && counts.texts > 300, JSON.stringify(counts));
});

/** Schemas of upstream's conversion tests that do something else here, and why. */
const refused: Readonly<Record<string, string>> = {
  "string array": "prefixItems isn't an array",
  "nullable string array": "prefixItems isn't an array",
  "array with empty items and prefixItems": "prefixItems isn't an array",
};

test("upstream's schemas that can be converted and those that can't", { skip: missing }, () => {
  const text = readFileSync(conversion, "utf8");
  const cases =
    /test\(\{\s*(SUCCESS|FAILURE),\s*"((?:[^"\\]|\\.)*)",\s*(?:R"""\(([\s\S]*?)\)"""|"((?:[^"\\]|\\.)*)"),/g;
  const counts = { converted: 0, failed: 0, different: 0 };
  for (const [, status, title = "", raw, plain] of text.matchAll(cases)) {
    const schema = JSON.parse(raw ?? plain ?? "");
    if (status === "FAILURE" || refused[title] !== undefined) {
      assert.throws(() => schemaToGrammar(schema), JsonSchemaError, title);
      counts[status === "FAILURE" ? "failed" : "different"]++;
      continue;
    }
    const grammar = schemaToGrammar(schema);
    assert.ok(parseGrammar(grammar).rules.length > 0, title);
    counts.converted++;
  }
  console.log(
    `upstream: ${counts.converted} schemas converted, ${counts.failed} refused as expected, ${counts.different} knowingly refused`,
  );
  assert.equal(counts.different, Object.keys(refused).length);
  assert.ok(counts.converted >= 60 && counts.failed >= 3, JSON.stringify(counts));
});
