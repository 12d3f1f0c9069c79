const special = ["varargs", "kwargs", "caller"];

/** Which of the names that a macro may use without declaring them its body uses. */
export function outerNames(...nodes: unknown[]): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if ("kind" in node && node.kind === "name" && "name" in node && special.includes(String(node.name))) {
      found.add(String(node.name));
    }
    for (const part of Object.values(node)) look(part);
  };
  look(nodes);
  return found;
}
