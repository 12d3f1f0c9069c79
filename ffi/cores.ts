/** Placeholder until it is written out below. */
export interface CoreBudget {
  /** How many cores the process hands out. */
  readonly total: number;
}
