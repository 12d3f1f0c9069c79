/** Of each DLL of Windows that we lean on: the functions, each of which Windows 10 has since its first release. A new one is looked up before it is added. */
const reviewed: Readonly<Record<string, string>> = {};

/** The functions of a system's DLL that may be imported; `undefined` for a DLL that may not. */
export function windowsImports(library: string): { has(name: string): boolean } | undefined {
  const name = library.toLowerCase();
  // The universal C runtime is a part of Windows 10.
  if (name.startsWith("api-ms-win-crt-")) return { has: () => true };
  return name in reviewed ? new Set(reviewed[name]!.split(/\s+/)) : undefined;
}
