import { type Binary, type Import, textAt, type Version, viewOf } from "./binary.ts";

const machines: Readonly<Record<number, string>> = { 0x01000007: "x86_64", 0x0100000c: "aarch64" };
const commands = {
  symbols: 0x2,
  dependency: 0xc,
  identity: 0xd,
  signature: 0x1d,
  oldMinimum: 0x24,
  buildVersion: 0x32,
  weakDependency: 0x80000018,
  runPath: 0x8000001c,
  reexport: 0x8000001f,
  dyldInfo: 0x22,
  dyldInfoOnly: 0x80000022,
  exportsTrie: 0x80000033,
};

interface Command {
  readonly kind: number;
  readonly at: number;
}

/** Reads a 64-bit Mach-O library. Throws Error for anything else, universal files too. */
export function readMachO(file: Uint8Array): Binary {
  const view = viewOf(file);
  if (view.byteLength < 32 || view.getUint32(0, true) !== 0xfeedfacf) throw new Error("not a 64-bit Mach-O file");
  const list = readCommands(view);
  const text = ({ at }: Command): string => textAt(file, at + view.getUint32(at + 8, true));
  const of = (...kinds: readonly number[]): Command[] => list.filter(({ kind }) => kinds.includes(kind));
  const dependencies = of(commands.dependency, commands.weakDependency, commands.reexport).map(text);
  const machine = view.getUint32(4, true);
  return {
    format: "Mach-O",
    machine: machines[machine] ?? `machine ${machine}`,
    identity: of(commands.identity).map(text)[0],
    exports: readExports(file, list).map(withoutUnderscore).sort(),
    dependencies,
    runPaths: of(commands.runPath).map(text),
    imports: readImports(file, list, dependencies),
    minimum: readMinimum(view, list),
    isSigned: of(commands.signature).length > 0,
  };
}

function readCommands(view: DataView): Command[] {
  const found: Command[] = [];
  let at = 32;
  for (let left = view.getUint32(16, true); left > 0; left--) {
    found.push({ kind: view.getUint32(at, true), at });
    at += view.getUint32(at + 4, true);
  }
  return found;
}

function withoutUnderscore(name: string): string {
  return name.startsWith("_") ? name.slice(1) : name;
}

function readMinimum(view: DataView, list: readonly Command[]): Version | undefined {
  for (const { kind, at } of list) {
    const field = kind === commands.buildVersion ? at + 12 : kind === commands.oldMinimum ? at + 8 : undefined;
    if (field === undefined) continue;
    const value = view.getUint32(field, true);
    return [value >>> 16, (value >>> 8) & 255];
  }
  return undefined;
}

/** The undefined symbols, and the library that each is bound to. */
function readImports(file: Uint8Array, list: readonly Command[], dependencies: readonly string[]): Import[] {
  const table = list.find(({ kind }) => kind === commands.symbols);
  if (table === undefined) return [];
  const view = viewOf(file);
  const [symbols, count, strings] = [8, 12, 16].map((offset) => view.getUint32(table.at + offset, true)) as [
    number,
    number,
    number,
  ];
  const found: Import[] = [];
  for (let at = symbols; at < symbols + count * 16; at += 16) {
    const type = view.getUint8(at + 4);
    const isDebug = (type & 0xe0) !== 0;
    const isExternal = (type & 1) !== 0;
    const isUndefined = (type & 0x0e) === 0;
    if (isDebug || !isExternal || !isUndefined) continue;
    const ordinal = view.getUint16(at + 6, true) >> 8;
    const name = withoutUnderscore(textAt(file, strings + view.getUint32(at, true)));
    found.push({ name, library: dependencies[ordinal - 1] });
  }
  return found;
}

/** The exports that the system's loader finds, from their trie. */
function readExports(file: Uint8Array, list: readonly Command[]): string[] {
  const view = viewOf(file);
  for (const { kind, at } of list) {
    const place = kind === commands.exportsTrie
      ? [at + 8, at + 12]
      : kind === commands.dyldInfo || kind === commands.dyldInfoOnly
      ? [at + 40, at + 44]
      : undefined;
    if (place === undefined) continue;
    const [start, size] = place.map((field) => view.getUint32(field, true)) as [number, number];
    if (size > 0) return readTrie(file.subarray(start, start + size));
  }
  return [];
}

function readTrie(trie: Uint8Array): string[] {
  const names: string[] = [];
  const pending: [number, string][] = [[0, ""]];
  const seen = new Set<number>();
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const [start, prefix] = node;
    if (seen.has(start)) throw new Error("the trie of exports goes in a circle");
    seen.add(start);
    const [terminalSize, afterSize] = readUleb(trie, start);
    if (terminalSize > 0) names.push(prefix);
    const count = afterSize + terminalSize;
    let at = count + 1;
    if (at > trie.length) throw new Error("the trie of exports breaks off");
    for (let children = trie[count]!; children > 0; children--) {
      const part = textAt(trie, at);
      const [child, next] = readUleb(trie, at + part.length + 1);
      pending.push([child, prefix + part]);
      at = next;
    }
  }
  return names;
}

/** A number of seven bits a byte, and where the next thing begins. */
function readUleb(bytes: Uint8Array, start: number): [number, number] {
  let value = 0;
  let at = start;
  for (let shift = 1;; shift *= 128) {
    const byte = bytes[at++];
    if (byte === undefined) throw new Error("the trie of exports breaks off");
    value += (byte & 127) * shift;
    if (byte < 128) return [value, at];
  }
}
