import { checkBoolean, checkOptions } from "../../support/check.ts";
import type { DetokenizeFlags, TokenizeFlags } from "../thread/tokenizer.ts";

/** How text is turned into tokens. */
export interface TokenizeOptions {
  /** Add the tokens that the model wants at the start and the end of a text. Default true. C: `add_special`. */
  addSpecial?: boolean | undefined;
  /** Read the text of control tokens, such as `<|im_start|>`, as those tokens. Default false. C: `parse_special`. */
  parseSpecial?: boolean | undefined;
}

/** How tokens are turned into text. */
export interface DetokenizeOptions {
  /** Leave out the tokens that `addSpecial` added. Default true. */
  removeSpecial?: boolean | undefined;
  /** Write control tokens as their text; else they give none. Default true. C: `unparse_special`. */
  renderSpecial?: boolean | undefined;
}

/** The flags of checked options. Throws InvalidArgumentError. */
export function tokenizeFlags(where: string, options: TokenizeOptions | undefined): TokenizeFlags {
  const { addSpecial = true, parseSpecial = false } = checkOptions(where, options, ["addSpecial", "parseSpecial"]);
  return {
    addSpecial: checkBoolean("addSpecial", addSpecial),
    parseSpecial: checkBoolean("parseSpecial", parseSpecial),
  };
}

/** The flags of checked options. Throws InvalidArgumentError. */
export function detokenizeFlags(where: string, options: DetokenizeOptions | undefined): DetokenizeFlags {
  const { removeSpecial = true, renderSpecial = true } = checkOptions(where, options, [
    "removeSpecial",
    "renderSpecial",
  ]);
  return {
    removeSpecial: checkBoolean("removeSpecial", removeSpecial),
    renderSpecial: checkBoolean("renderSpecial", renderSpecial),
  };
}
