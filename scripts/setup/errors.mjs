/** A reason why set-up can't go on that the reader can do something about: shown without a stack. */
export class SetupError extends Error {
  name = "SetupError";
}
