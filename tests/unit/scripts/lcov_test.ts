import assert from "node:assert/strict";
import test from "node:test";
import { coverageByFolder, coverageTable } from "../../../scripts/coverage/lcov.ts";

const LCOV = `SF:/tree/lib/ggml/tensor/a.ts
BRH:1
BRF:2
LH:3
LF:4
end_of_record
SF:/tree/lib/ggml/b.ts
BRH:0
BRF:0
LH:6
LF:6
end_of_record
SF:/tree/mod.ts
LH:1
LF:2
end_of_record
SF:/elsewhere/lib/ggml/c.ts
LH:0
LF:100
end_of_record
`;

test("lines and branches are added up by folder; files of other trees don't count", () => {
  const folders = coverageByFolder(LCOV, "/tree");
  assert.deepEqual(folders, [
    { folder: ".", lines: [1, 2], branches: [0, 0] },
    { folder: "lib/ggml", lines: [9, 10], branches: [1, 2] },
  ]);
  assert.deepEqual(coverageByFolder(LCOV, "/tree", 1).map(({ folder }) => folder), [".", "lib"]);
  const table = coverageTable(folders);
  assert.match(table, /^lib\/ggml +90\.0 % +9\/10 +50\.0 % +1\/2$/m);
  assert.match(table, /^all +83\.3 % +10\/12 +50\.0 % +1\/2$/m);
});
