// Calls every operator with operands that are somehow wrong, and computes what is taken: RUNS SEED. Ends with 0 when every refusal was an error of this
// library; a native abort ends it by a signal. The last line but one names what was under way.
import { writeSync } from "node:fs";
import process from "node:process";
import fc from "fast-check";
import { open } from "../../../ffi/mod.ts";
import { GgmlError } from "../../../lib/errors.ts";
import { computeSync } from "../../../lib/ggml/backend/compute_sync.ts";
import { GgmlContext } from "../../../lib/ggml/tensor/context.ts";
import { Graph } from "../../../lib/ggml/graph/graph.ts";
import * as ops from "../../../lib/ggml/ops/mod.ts";
import { Tensor } from "../../../lib/ggml/tensor/tensor.ts";
import { typeByName, type TypeName, typeNames } from "../../../lib/ggml/tensor/types.ts";
import { Draw, type Operand } from "./case.ts";
import { cases } from "./cases.ts";

const [runs = 1, seed = 1] = process.argv.slice(2).map(Number);
const native = await open();
const counts = { taken: 0, refused: 0 };
const strangers: string[] = [];

/** Something like the operand: another shape, type or layout, or no tensor at all. */
function mutate(draw: Draw, context: GgmlContext, { type, values }: Operand): Tensor {
  const shape = [...values.shape];
  const kind = draw.int(0, 11);
  if (kind === 0) return draw.of<unknown>(undefined, null, 7, {}, "a") as Tensor;
  if (kind <= 2) shape[draw.int(0, 3)]! += draw.of(1, -1, 2, 31);
  if (kind === 3) shape[draw.int(0, 3)] = draw.of(0, 1, 64);
  const other = kind === 4 || kind === 5 ? typeNames[draw.int(0, typeNames.length - 1)]! : type;
  if (kind === 4) shape[0] = typeByName("type", other).blockSize * draw.int(1, 2);
  return lay(draw, context, other, shape, kind);
}

function lay(draw: Draw, context: GgmlContext, type: TypeName, shape: number[], kind: number): Tensor {
  const [n0 = 1, n1 = 1, n2 = 1, n3 = 1] = shape;
  if (kind === 6) return ops.transpose(context, filled(draw, context, type, [n1, n0, n2, n3]));
  if (kind === 7) return ops.permute(context, filled(draw, context, type, [n0, n2, n1, n3]), [0, 2, 1, 3]);
  if (kind === 8) {
    return ops.view(context, filled(draw, context, type, [n0 + typeByName("type", type).blockSize, n1, n2, n3]), shape);
  }
  if (kind === 9) return ops.permute(context, filled(draw, context, type, [n3, n2, n1, n0]), [3, 2, 1, 0]);
  return filled(draw, context, type, shape);
}

function filled(draw: Draw, context: GgmlContext, type: TypeName, shape: readonly number[]): Tensor {
  const tensor = context.tensor(type, shape);
  const { values } = draw.operand([tensor.elementCount], -3, 12);
  const whole = type.startsWith("i") && !type.startsWith("iq");
  if (whole) {
    return tensor.write(
      Array.from(values.data, (value) => type === "i64" ? BigInt(Math.trunc(value)) : Math.trunc(value)) as number[],
    );
  }
  if (type === "f32" || type === "f16" || type === "f64") return tensor.write(Array.from(values.data));
  return tensor.zero();
}

function attempt(
  name: string,
  draw: Draw,
  operands: readonly Operand[],
  build: (context: GgmlContext, ...tensors: Tensor[]) => Tensor,
): void {
  using context = new GgmlContext(native, { maxTensors: 256, dataBytes: 1 << 22 });
  try {
    const tensors = operands.map((operand) =>
      draw.int(0, 2) === 0
        ? mutate(draw, context, operand)
        : lay(draw, context, operand.type, [...operand.values.shape], 99)
    );
    const result = build(context, ...(draw.int(0, 9) === 0 ? tensors.toReversed() : tensors));
    using graph = new Graph(context, { size: 256 }).forward(result);
    writeSync(
      2,
      `${name}: ${tensors.map((one) => one instanceof Tensor ? `${one} / ${one.strides}` : one).join("; ")}\n`,
    );
    computeSync(graph);
    counts.taken++;
  } catch (error) {
    if (error instanceof GgmlError) counts.refused++;
    else strangers.push(`${name}: ${error}`);
  }
}

// Functions of one's own throw what they like.
for (const { name, make } of cases.filter((one) => !/custom/i.test(one.name))) {
  fc.assert(
    fc.property(fc.gen(), (generate) => {
      const draw = new Draw(generate);
      const { operands, build } = make(draw);
      attempt(name, draw, operands, build);
    }),
    { seed, numRuns: runs, endOnFailure: true },
  );
}
console.log(JSON.stringify({ ...counts, strangers: strangers.slice(0, 20) }));
