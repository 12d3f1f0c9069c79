/**
 * The errors of converting models.
 *
 * @module
 */

import { registerErrors } from "../../../base/error.ts";
import { GgmlError } from "../../../base/errors.ts";

/** A model file can't be converted: it is damaged, of another kind, or lacks something. */
export class ConversionError extends GgmlError {
  /** The stable code of this class. */
  static override readonly code: string = "CONVERSION";
}

registerErrors(ConversionError);
