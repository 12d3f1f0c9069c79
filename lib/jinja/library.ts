import { tojson } from "./filters/json.ts";
import { numberFilters } from "./filters/number.ts";
import { selectFilters } from "./filters/select.ts";
import { sequenceFilters } from "./filters/sequence.ts";
import { textFilters } from "./filters/text.ts";
import { dictMethods, listMethods, tupleMethods } from "./methods/containers.ts";
import { floatMethods, intMethods, stringMethods } from "./methods/string.ts";
import type { Library } from "./run.ts";
import { tests } from "./tests.ts";

/** All that templates know. */
export const library: Library = {
  filters: new Map([
    ...textFilters,
    ...sequenceFilters,
    ...selectFilters,
    ...numberFilters,
    ["tojson", tojson] as const,
  ]),
  tests,
  methods: new Map([
    ["str", stringMethods],
    ["list", listMethods],
    ["tuple", tupleMethods],
    ["dict", dictMethods],
    ["int", intMethods],
    ["float", floatMethods],
  ]),
};
