/** The severity of a line of the log. C: `ggml_log_level`. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** A line that native code wrote to its log. */
export interface LogLine {
  /** Its severity; for text that continues a line, such as the dots of a load's progress, `"info"`. C: `ggml_log_level`. */
  readonly level: LogLevel;
  /** The text, cut at some 500 bytes. */
  readonly text: string;
  /** The system's number of the thread that wrote it. */
  readonly tid: number;
}

/** The levels from the least severe on. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** Returns the level of a number of `ggml_log_level`. `GGML_LOG_LEVEL_NONE` and `GGML_LOG_LEVEL_CONT` are information. */
export function logLevelOf(number: number): LogLevel {
  return LOG_LEVELS[number - 1] ?? "info";
}

/** Returns the number that C has for a level. */
export function logLevelNumber(level: LogLevel): number {
  return LOG_LEVELS.indexOf(level) + 1;
}

/** Whether a line is at least as severe as a level. */
export function isAtLeast({ level }: LogLine, least: LogLevel): boolean {
  return logLevelNumber(level) >= logLevelNumber(least);
}
