import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { denoProgram } from "../bootstrap/packages.mjs";
import { ROOT } from "../support/root.ts";

/** A member of a public class or interface. */
export interface PublicMember {
  readonly name: string;
  readonly doc: string;
  readonly isStatic: boolean;
}

/** A name that an entry point exports. */
export interface PublicName {
  /** The entry point, such as `./ggml`. */
  readonly entry: string;
  readonly name: string;
  readonly kind: string;
  /** Its doc comment. */
  readonly doc: string;
  readonly members: readonly PublicMember[];
  /** The file that declares it. */
  readonly file: string;
}

interface DocComment {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string }[];
}

interface DocMember {
  readonly name: string;
  readonly jsDoc?: DocComment;
  readonly isStatic?: boolean;
  readonly accessibility?: string;
}

interface Declaration {
  readonly kind: string;
  readonly jsDoc?: DocComment;
  readonly location: { readonly filename: string };
  readonly def?: Partial<Record<"constructors" | "methods" | "properties", readonly DocMember[]>>;
}

interface Documentation {
  readonly nodes: Readonly<
    Record<
      string,
      { readonly symbols: readonly { readonly name: string; readonly declarations: readonly Declaration[] }[] }
    >
  >;
}

/** The entry points of deno.json with their files. */
export function entryPoints(): Readonly<Record<string, string>> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")) as { exports: Record<string, string> };
  return exports;
}

/** The output of `deno doc --json` for a module of the tree. */
export function documentationOf(file: string): string {
  return execFileSync(denoProgram(ROOT), ["doc", "--json", file], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** Reads what an entry point exports, by `deno doc`. */
export function publicNames(entry: string): PublicName[] {
  const text = documentationOf(entryPoints()[entry] ?? "");
  const { nodes } = JSON.parse(text) as Documentation;
  return Object.values(nodes).flatMap(({ symbols }) =>
    symbols.flatMap(({ name, declarations }) =>
      declarations.map((one) => ({
        entry,
        name,
        kind: one.kind,
        doc: docText(one.jsDoc),
        members: membersOf(one),
        file: one.location.filename,
      }))
    )
  );
}

function membersOf({ def }: Declaration): PublicMember[] {
  const members = [...def?.constructors ?? [], ...def?.methods ?? [], ...def?.properties ?? []];
  return members.filter(({ accessibility }) => accessibility !== "private").map((one) => ({
    name: one.name,
    doc: docText(one.jsDoc),
    isStatic: one.isStatic === true,
  }));
}

/** The text of a doc comment, with the names of its tags at the end. */
function docText(comment: DocComment | undefined): string {
  return [comment?.doc ?? "", ...(comment?.tags ?? []).map(({ kind }) => `@${kind}`)].join("\n").trim();
}

/** Returns the first sentence of a doc comment, links as their names. */
export function firstSentence(doc: string): string {
  const text =
    doc.replaceAll(/\{@linkcode ([^}|]+)(?:\|[^}]*)?\}/g, "$1").split(/\n\s*\n/)[0]?.replaceAll(/\s+/g, " ") ?? "";
  return /^.*?[.:](?= [A-Z`{]|$)/.exec(text)?.[0] ?? text;
}
