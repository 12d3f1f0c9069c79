import { transform } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Makes the tarball by which JSR's npm registry gives a package: its modules as JavaScript, under `@jsr/scope__name`. */
export async function jsrAsNpm(folder: string): Promise<Uint8Array> {
  const config = JSON.parse(readFileSync(join(folder, "deno.json"), "utf8")) as {
    name: string;
    version: string;
    exports: Record<string, string>;
  };
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const dependencies: Record<string, string> = {};
  const files = await Promise.all(entries.map(async (entry): Promise<[string, string]> => {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length + 1).replaceAll("\\", "/");
    const source = readFileSync(path, "utf8");
    if (!name.endsWith(".ts")) return [name, source];
    const { code } = await transform(source, { loader: "ts", format: "esm", target: "esnext" });
    const renamed = code.replaceAll(/((?:from|import)\s*\(?")(\.[^"]+)\.ts"/g, '$1$2.js"')
      .replaceAll(/"npm:((?:@[^/"]+\/)?[^@"]+)@([^"]+)"/g, (_, dependency: string, version: string) => {
        dependencies[dependency] = version;
        return JSON.stringify(dependency);
      });
    return [name.replace(/\.ts$/, ".js"), renamed];
  }));
  const exports = Object.entries(config.exports).map(([entry, file]) => [entry, file.replace(/\.ts$/, ".js")]);
  const about = {
    name: `@jsr/${config.name.slice(1).replace("/", "__")}`,
    version: config.version,
    type: "module",
    dependencies,
    exports: Object.fromEntries(exports),
  };
  return gzipSync(tarOf([["package.json", JSON.stringify(about)], ...files]));
}

const BLOCK = 512;

function tarOf(files: readonly (readonly [name: string, text: string])[]): Uint8Array {
  const parts = files.flatMap(([name, text]) => {
    const body = new TextEncoder().encode(text);
    const padded = new Uint8Array(Math.ceil(body.length / BLOCK) * BLOCK);
    padded.set(body);
    return [tarHeader(`package/${name}`, body.length), padded];
  });
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK)]);
}

function tarHeader(path: string, size: number): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const write = (text: string, at: number): void => header.set(new TextEncoder().encode(text), at);
  write(path, 0);
  write("0000644\0", 100);
  write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  write("00000000000\0", 136);
  write("        ", 148);
  write("0", 156);
  write("ustar\x0000", 257);
  write(`${header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
