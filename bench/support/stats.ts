/** Median and quartiles of measurements. */
export interface Summary {
  /** The number of measurements. */
  runs: number;
  median: number;
  /** The lower and the upper quartile. */
  low: number;
  high: number;
  min: number;
  max: number;
}

/** Sums up measures by what a few outliers can't move. */
export function summarize(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    runs: sorted.length,
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    min: sorted[0] ?? NaN,
    max: sorted.at(-1) ?? NaN,
  };
}

/** The value below which this share of the sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? NaN;
  const above = sorted[Math.ceil(at)] ?? NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Each of ours divided by the measure that was taken beside it. */
export function ratios(ours: readonly number[], theirs: readonly number[]): number[] {
  return ours.map((value, at) => value / (theirs[at] ?? NaN));
}

/** `12.3 (11.9–12.8)`: the median and the quartiles. */
export function show({ median, low, high }: Summary, digits = 1): string {
  return `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}
