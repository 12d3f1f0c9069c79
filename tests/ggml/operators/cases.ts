import { arithmeticCases } from "./arithmetic.ts";
import { attentionCases } from "./attention.ts";
import type { Case } from "./case.ts";
import { convolutionCases } from "./convolution.ts";
import { customCases } from "./custom.ts";
import { deepseekCases } from "./deepseek.ts";
import { elementCases } from "./elements.ts";
import { matrixCases } from "./matrix.ts";
import { pictureCases } from "./picture.ts";
import { recurrentCases } from "./recurrent.ts";
import { shapeCases } from "./shape.ts";
import { trainingCases } from "./training.ts";

/** Every operator with its reference in plain TypeScript. */
export const cases: readonly Case[] = [
  ...elementCases,
  ...arithmeticCases,
  ...matrixCases,
  ...shapeCases,
  ...attentionCases,
  ...convolutionCases,
  ...pictureCases,
  ...recurrentCases,
  ...deepseekCases,
  ...trainingCases,
  ...customCases,
];
