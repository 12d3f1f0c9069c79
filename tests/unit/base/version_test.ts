import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { packageVersion } from "../../../base/version.ts";

test("the version is that of deno.json and package.json", () => {
  for (const name of ["deno.json", "package.json"]) {
    const { version } = JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8"));
    assert.equal(version, packageVersion, name);
  }
});
