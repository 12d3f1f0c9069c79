import { boolean, options, type RulesOf } from "../../../base/options.ts";
import type { DetokenizeFlags, TokenizeFlags } from "../thread/tokenizer.ts";

/** Options of `model.tokenize`. */
export interface TokenizeOptions {
  /** Add the tokens that the model wants at the start and the end of a text. Default true. C: `add_special`. */
  addSpecial?: boolean | undefined;
  /** Read the text of control tokens, such as `<|im_start|>`, as those tokens. Default false. C: `parse_special`. */
  parseSpecial?: boolean | undefined;
}

/** Options of `model.detokenize`. */
export interface DetokenizeOptions {
  /** Leave out the tokens that `addSpecial` added. Default true. C: `remove_special`. */
  removeSpecial?: boolean | undefined;
  /** Write control tokens as their text; otherwise they give no text. Default true. C: `unparse_special`. */
  renderSpecial?: boolean | undefined;
}

const tokenizeSpec = options(
  "model.tokenize",
  {
    addSpecial: boolean({ default: true }),
    parseSpecial: boolean({ default: false }),
  } satisfies RulesOf<TokenizeOptions>,
);

const detokenizeSpec = options(
  "model.detokenize",
  {
    removeSpecial: boolean({ default: true }),
    renderSpecial: boolean({ default: true }),
  } satisfies RulesOf<DetokenizeOptions>,
);

/** Checks the options of `model.tokenize`. Throws InvalidArgumentError. */
export function tokenizeFlags(where: string, given: TokenizeOptions | undefined): TokenizeFlags {
  return tokenizeSpec.check(given, where);
}

/** Checks the options of `model.detokenize`. Throws InvalidArgumentError. */
export function detokenizeFlags(where: string, given: DetokenizeOptions | undefined): DetokenizeFlags {
  return detokenizeSpec.check(given, where);
}
