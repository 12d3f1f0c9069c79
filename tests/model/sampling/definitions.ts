/**
 * What each sampler is, as plain arithmetic on 64-bit numbers: written from the definitions, to hold llama.cpp's own against. A definition gives
 * `undefined` where a comparison is so close that 32-bit numbers may decide otherwise.
 */

/** A token and its logit. */
export interface Candidate {
  readonly id: number;
  readonly logit: number;
}

export type Candidates = readonly Candidate[];

const close = 1e-5;

export function softmax(candidates: Candidates): number[] {
  const most = Math.max(...candidates.map(({ logit }) => logit));
  const weights = candidates.map(({ logit }) => Math.exp(logit - most));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}

export function sorted(candidates: Candidates): Candidates {
  return [...candidates].sort((a, b) => b.logit - a.logit);
}

export function topK(candidates: Candidates, k: number): Candidates {
  return k <= 0 ? candidates : sorted(candidates).slice(0, k);
}

export function topP(candidates: Candidates, p: number, keep: number): Candidates | undefined {
  if (p >= 1) return candidates;
  const ordered = sorted(candidates);
  let sum = 0;
  for (const [index, part] of softmax(ordered).entries()) {
    sum += part;
    if (index + 1 < keep) continue;
    if (Math.abs(sum - p) < close) return undefined;
    if (sum >= p) return ordered.slice(0, index + 1);
  }
  return ordered;
}

export function minP(candidates: Candidates, p: number, keep: number): Candidates | undefined {
  if (p <= 0) return candidates;
  const ordered = sorted(candidates);
  const least = (ordered[0]?.logit ?? 0) + Math.log(p);
  if (ordered.some(({ logit }) => Math.abs(logit - least) < close)) return undefined;
  return ordered.filter(({ logit }, index) => logit >= least || index < keep);
}

export function typical(candidates: Candidates, p: number, keep: number): Candidates | undefined {
  if (p >= 1) return candidates;
  const parts = softmax(candidates);
  const entropy = parts.reduce((sum, part) => sum - part * Math.log(part), 0);
  const ordered = candidates.map((candidate, index) => {
    const part = parts[index] ?? 0;
    return { candidate, part, distance: Math.abs(-Math.log(part) - entropy) };
  }).sort((a, b) => a.distance - b.distance);
  let sum = 0;
  for (const [index, { part }] of ordered.entries()) {
    sum += part;
    if (keep > 0 && index < keep - 1) continue;
    if (Math.abs(sum - p) < close) return undefined;
    if (sum <= p) continue;
    const last = ordered[index]?.distance ?? 0;
    const next = ordered[index + 1]?.distance ?? Infinity;
    return next - last < 1e-4 ? undefined : ordered.slice(0, index + 1).map(({ candidate }) => candidate);
  }
  return candidates;
}

export function topNSigma(candidates: Candidates, n: number): Candidates | undefined {
  if (n <= 0 || candidates.length <= 1) return candidates;
  const mean = candidates.reduce((sum, { logit }) => sum + logit, 0) / candidates.length;
  const deviation = Math.sqrt(candidates.reduce((sum, { logit }) => sum + (logit - mean) ** 2, 0) / candidates.length);
  const least = Math.max(...candidates.map(({ logit }) => logit)) - n * deviation;
  if (candidates.some(({ logit }) => Math.abs(logit - least) < 1e-4)) return undefined;
  return candidates.filter(({ logit }) => logit >= least);
}

export function temperature(candidates: Candidates, t: number): Candidates {
  if (t > 0) return candidates.map(({ id, logit }) => ({ id, logit: logit / t }));
  return sorted(candidates).slice(0, 1);
}

export function dynamicTemperature(candidates: Candidates, t: number, range: number, exponent: number): Candidates {
  if (range <= 0) return temperature(candidates, t);
  if (candidates.length <= 1) return candidates;
  const entropy = softmax(candidates).reduce((sum, part) => part > 0 ? sum - part * Math.log(part) : sum, 0);
  const low = Math.max(0, t - range);
  const high = t + range;
  return temperature(candidates, low + (high - low) * (entropy / Math.log(candidates.length)) ** exponent);
}

/** With the random number that decides whether it acts. */
export function xtc(
  candidates: Candidates,
  probability: number,
  threshold: number,
  keep: number,
  chance: number,
): Candidates | undefined {
  if (probability <= 0 || threshold > 0.5 || candidates.length < 2 || chance > probability) return candidates;
  const ordered = sorted(candidates);
  const parts = softmax(ordered);
  if (parts.some((part) => Math.abs(part - threshold) < close)) return undefined;
  const above = parts.filter((part) => part >= threshold).length;
  const leave = Math.max(0, above - 1);
  return ordered.length - leave >= keep ? ordered.slice(leave) : ordered;
}

export function penalties(
  candidates: Candidates,
  history: readonly number[],
  last: number,
  repeat: number,
  frequency: number,
  presence: number,
): Candidates {
  const window = last > 0 ? history.slice(-last) : [];
  return candidates.map(({ id, logit }) => {
    const count = window.filter((token) => token === id).length;
    if (count === 0) return { id, logit };
    return { id, logit: (logit <= 0 ? logit * repeat : logit / repeat) - count * frequency - presence };
  });
}

/** Each token is lowered by the longest end of the history that it followed before; `breaks` are the tokens that end a sequence. */
export function dry(
  candidates: Candidates,
  history: readonly number[],
  { last, multiplier, base, allowed, breaks }: {
    last: number;
    multiplier: number;
    base: number;
    allowed: number;
    breaks: ReadonlySet<number>;
  },
): Candidates {
  const window = history.slice(-last);
  if (multiplier === 0 || window.length <= allowed) return candidates;
  const backwards = window.toReversed();
  const firstBreak = backwards.findIndex((token) => breaks.has(token));
  const limit = firstBreak < 0 ? window.length : firstBreak;
  if (limit < allowed) return candidates;
  const longest = new Map<number, number>();
  for (let back = 1; back < backwards.length; back++) {
    let same = 0;
    while (back + same < backwards.length && backwards[same] === backwards[back + same]) same++;
    const length = Math.min(same, limit);
    const next = backwards[back - 1] ?? -1;
    if (length >= allowed) longest.set(next, Math.max(longest.get(next) ?? 0, length));
  }
  return candidates.map(({ id, logit }) => {
    const length = longest.get(id);
    if (length === undefined || breaks.has(id)) return { id, logit };
    return { id, logit: logit - multiplier * base ** (length - allowed) };
  });
}

export function logitBias(candidates: Candidates, biases: ReadonlyMap<number, number>): Candidates {
  return candidates.map(({ id, logit }) => ({ id, logit: logit + (biases.get(id) ?? 0) }));
}

export function greedy(candidates: Candidates): number {
  return candidates.reduce((best, one) => one.logit > best.logit ? one : best).id;
}

/** The token at a random number from 0 to 1, in the order given; `undefined` where it is a close thing. */
export function pick(candidates: Candidates, random: number): number | undefined {
  let sum = 0;
  for (const [index, part] of softmax(candidates).entries()) {
    sum += part;
    if (Math.abs(sum - random) < close && index < candidates.length - 1) return undefined;
    if (sum >= random) return candidates[index]?.id;
  }
  return candidates.at(-1)?.id;
}

/** What Mirostat keeps, for its surprise limit mu. */
export function mirostat1(candidates: Candidates, mu: number, vocabulary: number, m: number): Candidates | undefined {
  const ordered = sorted(candidates);
  const parts = softmax(ordered);
  let products = 0;
  let squares = 0;
  for (let i = 0; i < m - 1 && i < parts.length - 1; i++) {
    const t = Math.log((i + 2) / (i + 1));
    products += t * Math.log((parts[i] ?? 1) / (parts[i + 1] ?? 1));
    squares += t * t;
  }
  const s = products / squares;
  const epsilon = s - 1;
  const k = (epsilon * 2 ** mu / (1 - vocabulary ** -epsilon)) ** (1 / s);
  if (Number.isNaN(k)) return ordered.slice(0, 1);
  // More than an int holds: what C makes of it depends on the processor.
  if (k >= 2 ** 31) return undefined;
  if (k < ordered.length + 1 && Math.abs(k - Math.round(k)) < 1e-3 * Math.max(1, k / 10)) return undefined;
  return ordered.slice(0, Math.max(1, Math.trunc(k)));
}

export function mirostat2(candidates: Candidates, mu: number): Candidates | undefined {
  const ordered = sorted(candidates);
  const surprises = softmax(ordered).map((part) => -Math.log2(part));
  if (surprises.some((surprise) => Math.abs(surprise - mu) < 1e-4)) return undefined;
  return ordered.filter((_, index) => index === 0 || (surprises[index] ?? 0) <= mu);
}

/** The new logits: highest where the probability is the target. */
export function adaptiveP(candidates: Candidates, target: number): Candidates {
  const parts = softmax(candidates);
  return candidates.map(({ id }, index) => {
    const distance = Math.abs((parts[index] ?? 0) - target) / 0.3;
    return { id, logit: 5 - 10 * distance * distance / (1 + distance) };
  });
}

/** Joins tokens of which one begins with another, keeps those that stand out, and ends the text where the model is nearly done. */
export function infill(
  candidates: Candidates,
  piece: (id: number) => string,
  isEnd: (id: number) => boolean,
): number[] | undefined {
  const ordered = sorted(candidates);
  const parts = softmax(ordered);
  const ends = ordered.reduce((sum, { id }, i) => isEnd(id) ? sum + (parts[i] ?? 0) : sum, 0);
  if (Math.abs(3 * ends * ordered.length - (1 - ends)) < 1e-4) return undefined;
  if (3 * ends * ordered.length > 1 - ends) return ordered.filter(({ id }) => isEnd(id)).map(({ id }) => id);
  const gone = new Set<number>();
  for (let a = 0; a < ordered.length; a++) {
    for (let b = 0; b < ordered.length && !gone.has(a); b++) {
      if (a === b || gone.has(b)) continue;
      const [first, second] = [piece(ordered[a]?.id ?? 0), piece(ordered[b]?.id ?? 0)];
      if (first === "" || !second.startsWith(first)) continue;
      const [to, from] = (parts[b] ?? 0) > (parts[a] ?? 0) ? [b, a] : [a, b];
      parts[to] = (parts[to] ?? 0) + (parts[from] ?? 0);
      parts[from] = 0;
      gone.add(from);
    }
  }
  const keep = (list: readonly { id: number; part: number }[], least: number) =>
    list.filter(({ id, part }) => part >= least || isEnd(id));
  const all = ordered.map(({ id }, i) => ({ id, part: parts[i] ?? 0 }));
  if (all.some(({ part }) => Math.abs(part - 0.2) < close)) return undefined;
  const first = keep(all, 0.2);
  const sum = first.reduce((total, { part }) => total + part, 0);
  const texts = first.filter(({ id }) => !isEnd(id)).length;
  if (texts === 0) return [];
  const scaled = first.map(({ id, part }) => ({ id, part: part / sum }));
  const least = 1 / (texts + 1);
  if (scaled.some(({ part }) => Math.abs(part - least) < close)) return undefined;
  return keep(scaled, least).map(({ id }) => id);
}

/** The generator of random numbers that C++ calls mt19937, and the numbers that its library makes of it. */
export class Random {
  readonly #state = new Uint32Array(624);
  #at = 624;

  constructor(seed: number) {
    this.#state[0] = seed;
    for (let i = 1; i < 624; i++) {
      const before = this.#state[i - 1] ?? 0;
      this.#state[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
    }
  }

  next(): number {
    if (this.#at >= 624) this.#twist();
    let y = this.#state[this.#at++] ?? 0;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** `uniform_real_distribution<double>(0, 1)`. */
  double(): number {
    const low = this.next();
    return (low + this.next() * 2 ** 32) / 2 ** 64;
  }

  /** `uniform_real_distribution<float>(0, 1)`. */
  float(): number {
    return Math.fround(this.next()) / 2 ** 32;
  }

  #twist(): void {
    const s = this.#state;
    for (let i = 0; i < 624; i++) {
      const y = ((s[i] ?? 0) & 0x80000000) | ((s[(i + 1) % 624] ?? 0) & 0x7fffffff);
      s[i] = (s[(i + 397) % 624] ?? 0) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.#at = 0;
  }
}
