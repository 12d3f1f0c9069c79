import assert from "node:assert/strict";
import test from "node:test";
import { UsageError } from "../../cli/errors.ts";
import { type Flag, inFlags } from "../../cli/flags/flag.ts";
import { nearest, parseFlags } from "../../cli/flags/parse.ts";

const FLAGS: readonly Flag[] = [
  { name: "prompt", short: "p", takes: "text", help: "" },
  { name: "predict", short: "n", takes: "integer", min: 1, help: "" },
  { name: "temp", takes: "number", min: 0, max: 100, help: "" },
  { name: "gpu-layers", also: ["-ngl", "--n-gpu-layers"], takes: "integer", min: 0, help: "" },
  { name: "stop", takes: "text", many: true, help: "" },
  { name: "json", help: "" },
  { name: "verbose", short: "v", help: "" },
];

function fails(args: string[], message: RegExp): void {
  assert.throws(() => parseFlags(args, FLAGS), (error: unknown) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, message);
    return true;
  });
}

test("every spelling of a flag is understood", () => {
  for (const args of [["-n", "5"], ["-n5"], ["-n=5"], ["--predict", "5"], ["--predict=5"]]) {
    assert.equal(parseFlags(args, FLAGS).number("predict"), 5, args.join(" "));
  }
  for (const spelling of ["-ngl", "--n-gpu-layers", "--gpu-layers"]) {
    assert.equal(parseFlags([spelling, "3"], FLAGS).number("gpu-layers"), 3);
  }
});

test("a value may look like a flag, be empty, or hold what a shell would read", () => {
  assert.equal(parseFlags(["-p", "--json"], FLAGS).text("prompt"), "--json");
  assert.equal(parseFlags(["-p", "-n"], FLAGS).text("prompt"), "-n");
  assert.equal(parseFlags(["-p", ""], FLAGS).text("prompt"), "");
  assert.equal(parseFlags(["-p", "a=b $(x) `y` \n"], FLAGS).text("prompt"), "a=b $(x) `y` \n");
  assert.equal(parseFlags(["--prompt=a=b"], FLAGS).text("prompt"), "a=b");
});

test("arguments without a flag are kept in order, and all after -- are such", () => {
  assert.deepEqual(parseFlags(["a", "--json", "b"], FLAGS).positionals, ["a", "b"]);
  assert.deepEqual(parseFlags(["--", "--json", "-n"], FLAGS).positionals, ["--json", "-n"]);
  assert.equal(parseFlags(["--", "--json"], FLAGS).has("json"), false);
});

test("a flag that may be repeated keeps all its values, another is refused twice", () => {
  assert.deepEqual(parseFlags(["--stop", "a", "--stop", "b"], FLAGS).texts("stop"), ["a", "b"]);
  fails(["-n", "1", "--predict", "2"], /--predict was given twice/);
});

test("an unknown flag is refused with the nearest known one", () => {
  fails(["--tmep", "0"], /there is no flag --tmep; did you mean --temp\?/);
  fails(["-temp", "0"], /there is no flag -temp; did you mean --temp\?/);
  fails(["--n-gpu-layer", "0"], /did you mean --n-gpu-layers\?/);
  fails(["--zzz"], /^there is no flag --zzz$/);
  fails(["-x"], /^there is no flag -x/);
});

test("what is no number, or out of range, is refused in the user's spelling", () => {
  for (const bad of ["NaN", "Infinity", "-1", "", " ", "1e999", "one", "101"]) {
    fails(["--temp", bad], /^--temp must be a number from 0 to 100, not/);
  }
  for (const bad of ["0", "-1", "1.5", "nan", "9007199254740993", "0x"]) {
    fails(["-n", bad], /^-n must be an integer of at least 1, not/);
  }
  fails(["-ngl=x"], /^-ngl must be an integer of at least 0, not "x"/);
});

test("a missing value, and a value for a switch, are refused", () => {
  fails(["-n"], /-n needs a value: -n N/);
  fails(["-ngl"], /-ngl needs a value: -ngl N/);
  fails(["--prompt"], /--prompt needs a value: --prompt TEXT/);
  fails(["-vn"], /-n needs a value: -n N/);
  fails(["--json=yes"], /--json is a switch and takes no value, but was given "yes"/);
});

test("the nearest name is one that is near", () => {
  assert.equal(nearest("complet", ["chat", "complete"]), "complete");
  assert.equal(nearest("x", ["chat", "complete"]), undefined);
});

test("messages of the library name flags where they name options", () => {
  const flags: readonly Flag[] = [
    { name: "allow-truncated", option: "allowTruncated", help: "" },
    { name: "top-k", option: "topK", takes: "integer", help: "" },
    { name: "stop", option: "stop", takes: "text", help: "" },
  ];
  assert.equal(inFlags("read what is there by allowTruncated: true", flags), "read what is there by --allow-truncated");
  assert.equal(inFlags("topK is -1; stop here, in topKey too", flags), "--top-k is -1; stop here, in topKey too");
});
