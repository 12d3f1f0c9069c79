import { build } from "esbuild";
import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import test, { after, before } from "node:test";
import { defaultModelPath } from "../../mod.ts";
import { EmptyFolder, IS_DENO, programFrom, wideTest } from "./empty_folder.ts";
import { packedTree } from "./packed.ts";
import { Registries } from "./registries.ts";
import { tampered } from "./tamper.ts";

const PACKAGE = "@ggml-ffi/ggml-ffi";
const RUN = IS_DENO ? ["deno", "run", "-A"] : ["bun"];
const ANSWER = programFrom(PACKAGE).replace("await defaultModelPath()", "process.env.MODEL").replace(
  "defaultModelPath, ",
  "",
);
const INSTALL = `import { installLibraries } from "${PACKAGE}";
console.log(JSON.stringify(await installLibraries()));
`;
const LIBRARY = "libllama.so";

let packed: string;
let registries: Registries;
/** Programs of one file, away from all packages. */
const programs = new Map<string, string>();
before(async () => {
  packed = await packedTree();
  registries = await Registries.start(packed);
  using project = new EmptyFolder(registries, { "package.json": "{}", "answer.ts": ANSWER, "install.ts": INSTALL });
  await project.ran(["npm", "install", PACKAGE]);
  for (const name of ["answer", "install"]) {
    const options = { bundle: true, write: false, format: "esm", platform: "node" } as const;
    const { outputFiles } = await build({ absWorkingDir: project.path, entryPoints: [`${name}.ts`], ...options });
    programs.set(`${name}.mjs`, outputFiles[0]?.text ?? "");
  }
});
after(() => registries[Symbol.asyncDispose]());

/** A folder with the programs and a cache that is empty. */
class Elsewhere extends EmptyFolder {
  readonly cache = this.file("cache");

  constructor(from = registries) {
    super(from, Object.fromEntries(programs));
  }

  async start(program: string, env: Readonly<Record<string, string>> = {}) {
    return await this.run([...RUN, `${program}.mjs`], {
      GGML_FFI_CACHE: this.cache,
      MODEL: await defaultModelPath(),
      ...env,
    });
  }
}

/** The ranges of the requests for the platform's package. */
function watchTarball(from: Registries, cutAfter: (request: number) => number | undefined): (string | undefined)[] {
  const ranges: (string | undefined)[] = [];
  from.edit = (path, answer, { headers }) => {
    if (!/linux-.*\.tgz$/.test(path)) return undefined;
    const cut = cutAfter(ranges.push(headers.range));
    return cut === undefined ? answer : { cutAfter: cut };
  };
  return ranges;
}

test("installLibraries: a cut download goes on where it ended, in the same call and in the next one", async () => {
  using folder = new Elsewhere();
  const missing = await folder.start("answer");
  assert.match(
    missing.stderr,
    /LibraryNotFoundError: no libraries .*\n[\s\S]*To fetch them, run `(bunx --bun|deno run -A npm:).* install-libraries`/,
  );
  const ranges = watchTarball(registries, () => 1 << 19);
  const cut = await folder.start("install");
  assert.match(cut.stderr, /LibraryDownloadError: the libraries can't be fetched from .*; run it again/);
  assert.equal(ranges[0], undefined);
  assert.match(ranges[1] ?? "", /^bytes=\d+-$/);
  const again = watchTarball(registries, (request) => request === 1 ? 1 << 19 : undefined);
  const { stdout, stderr } = await folder.start("install");
  assert.match(again[0] ?? "", /^bytes=[1-9]\d*-$/, stderr);
  assert.equal(again.length, 2);
  const { directory, downloadedBytes } = JSON.parse(stdout) as { directory: string; downloadedBytes: number };
  const whole = registries.size(/linux-.*\.tgz$/);
  assert.ok(downloadedBytes > 0 && downloadedBytes < whole, `${downloadedBytes} of ${whole}`);
  assert.deepEqual(readdirSync(folder.file("cache/libraries")), [directory.split("/").at(-1)]);
  assert.match((await folder.start("answer")).stdout, /Paris/);
  registries.edit = undefined;
  registries.requests.length = 0;
  assert.equal(JSON.parse((await folder.start("install")).stdout).downloadedBytes, 0);
  assert.deepEqual(registries.requests, []);
});

wideTest("installLibraries: a damaged part and a damaged folder are fetched again", async () => {
  using folder = new Elsewhere();
  watchTarball(registries, () => 1 << 19);
  await folder.start("install");
  registries.edit = undefined;
  const [part = ""] = readdirSync(folder.file("cache/libraries"));
  writeFileSync(folder.file(`cache/libraries/${part}`), "damaged");
  const { directory } = JSON.parse((await folder.start("install")).stdout) as { directory: string };
  writeFileSync(`${directory}/${LIBRARY}`, "damaged");
  assert.match(
    (await folder.start("answer")).stderr,
    /LibraryHashError: .* isn't the file that its manifest describes/,
  );
  assert.ok(JSON.parse((await folder.start("install")).stdout).downloadedBytes > 0);
  assert.match((await folder.start("answer")).stdout, /Paris/);
});

for (const mended of [false, true]) {
  (mended ? test : wideTest)(
    `a tampered library is refused before it is opened, ${mended ? "also" : "and"} with ${
      mended ? "its" : "the old"
    } hash in the manifest`,
    async () => {
      await using evil = await Registries.start(
        packed,
        (name, tgz) => /linux-/.test(name) ? tampered(tgz, LIBRARY, mended) : tgz,
      );
      const refused = mended
        ? /LibraryHashError: .*manifest.json isn't the file that this release has/
        : /LibraryHashError: .*libllama.so isn't the file that its manifest describes/;
      using elsewhere = new Elsewhere(evil);
      const { stderr } = await elsewhere.start("install");
      assert.match(stderr, refused);
      assert.ok(!existsSync(elsewhere.file("cache/libraries/x86_64-linux-gnu-0.1.0")));
      using project = new EmptyFolder(evil, {
        "package.json": '{ "type": "module" }',
        "main.ts": programFrom(PACKAGE),
      });
      await project.ran(["npm", "install", PACKAGE]);
      const program = await project.run([...RUN, "main.ts"], { GGML_FFI_TRACE: "load" });
      assert.match(program.stderr, refused);
      assert.doesNotMatch(program.stderr, /libllama.so: opened/);
    },
  );
}

wideTest("installLibraries: an answer that isn't the registry's, and a version that it lacks", async () => {
  using folder = new Elsewhere();
  const about = (text: string) => {
    registries.edit = (path, answer) =>
      /linux-[^/]*$/.test(path) && !path.endsWith(".tgz")
        ? { ...answer, body: new TextEncoder().encode(text) }
        : undefined;
  };
  about("<html>");
  assert.match((await folder.start("install")).stderr, /LibraryDownloadError: .*: the answer isn't JSON/);
  about('{ "versions": {} }');
  assert.match(
    (await folder.start("install")).stderr,
    /LibraryDownloadError: .*: it has no @ggml-ffi\/linux-\S+ 0\.1\.0;/,
  );
  registries.edit = undefined;
  const nowhere = await folder.start("install", { NPM_CONFIG_REGISTRY: "http://127.0.0.1:1/" });
  assert.match(
    nowhere.stderr,
    /LibraryDownloadError: the libraries can't be fetched from http:\/\/127\.0\.0\.1:1\/.*NPM_CONFIG_REGISTRY/,
  );
});
