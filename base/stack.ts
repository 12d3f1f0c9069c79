/** The modules and lines that each line of a program made of one file comes from. */
export interface LineTable {
  /** The modules, as paths in the source tree. */
  readonly modules: readonly string[];
  /** Runs of lines that follow each other on both sides: the first line, the module's index and the line in it, each as the difference to the run before. */
  readonly runs: readonly number[];
}

/** A frame in a module that is text: JavaScriptCore shows all of it, which is a megabyte a line. */
const TEXT_FRAME = /^(.*?)data:text\/javascript\S*:(\d+):\d+(\)?)$/;

/** Returns a stack trace in which the frames of a module that is text name the source's module and line. */
export function readableStack(stack: string): string {
  if (!stack.includes("data:text/javascript")) return stack;
  return stack.split("\n").map((frame) => {
    const [, before = "", line = "", after = ""] = TEXT_FRAME.exec(frame) ?? [];
    return line === "" ? frame : `${before}${sourceLine(Number(line))}${after}`;
  }).join("\n");
}

function sourceLine(line: number): string {
  // Packing puts it at the end of a native thread's text.
  const table = (globalThis as { ggmlFfiLines?: LineTable }).ggmlFfiLines;
  let place = `native thread:${line}`;
  if (table === undefined) return place;
  let [first, module, source] = [0, 0, 0];
  for (let at = 0; at < table.runs.length; at += 3) {
    const [lines = 0, modules = 0, sources = 0] = table.runs.slice(at, at + 3);
    first += lines;
    if (first > line) break;
    module += modules;
    source += sources;
    place = `${table.modules[module]}:${source + line - first}`;
  }
  return place;
}
