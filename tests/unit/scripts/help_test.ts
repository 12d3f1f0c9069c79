import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { moduleCommand, ROOT, runProgram } from "../../support/program.ts";

const scripts = readdirSync(join(ROOT, "scripts")).filter((name) => name.endsWith(".ts")).sort();

for (const name of scripts) {
  test(`scripts/${name} --help prints its usage, and an unknown flag ends with 2`, async () => {
    const [help, wrong] = await Promise.all([
      runProgram(moduleCommand(`scripts/${name}`, ["--help"])),
      runProgram(moduleCommand(`scripts/${name}`, ["--no-such-flag", "--help"])),
    ]);
    assert.equal(help.code, 0, help.stderr);
    assert.equal(help.stderr, "");
    assert.match(help.stdout, /^Usage: /m);
    assert.match(help.stdout, /^ +-h, --help/m);
    assert.equal(wrong.code, 2, wrong.stdout);
    assert.equal(wrong.stdout, "");
    assert.match(wrong.stderr, /no-such-flag/);
  });
}

test("every command of package.json is a script of this folder", () => {
  const { scripts: commands } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const [name, command] of Object.entries(commands)) {
    const [, script = ""] = /^node scripts\/bootstrap\.mjs (\w+)$/.exec(command) ?? [];
    assert.ok(scripts.includes(`${script}.ts`), `${name}: ${command}`);
  }
});

test("the bootstrap names the script that isn't there, and ends with 2", async () => {
  for (const args of [[], ["nothing"], ["../cli/main"]]) {
    const { code, stderr } = await runProgram(["node", join(ROOT, "scripts", "bootstrap.mjs"), ...args]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /^Usage: node scripts\/bootstrap\.mjs NAME/);
  }
});
