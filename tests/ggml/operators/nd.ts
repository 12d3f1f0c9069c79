/** Numbers in four dimensions, the fastest one first: what the references in plain TypeScript work with. */
export class Nd {
  readonly shape: readonly [number, number, number, number];
  readonly data: Float64Array;

  constructor(shape: readonly number[], data?: ArrayLike<number>) {
    this.shape = [shape[0] ?? 1, shape[1] ?? 1, shape[2] ?? 1, shape[3] ?? 1];
    this.data = data === undefined ? new Float64Array(this.count) : Float64Array.from(data);
  }

  get count(): number {
    return this.shape.reduce((product, one) => product * one, 1);
  }

  at(i0: number, i1 = 0, i2 = 0, i3 = 0): number {
    const [n0, n1, n2] = this.shape;
    return this.data[((i3 * n2 + i2) * n1 + i1) * n0 + i0]!;
  }

  put(value: number, i0: number, i1 = 0, i2 = 0, i3 = 0): void {
    const [n0, n1, n2] = this.shape;
    this.data[((i3 * n2 + i2) * n1 + i1) * n0 + i0] = value;
  }

  /** The number at indices that go round. */
  wrap(i0: number, i1 = 0, i2 = 0, i3 = 0): number {
    const [n0, n1, n2, n3] = this.shape;
    return this.at(i0 % n0, i1 % n1, i2 % n2, i3 % n3);
  }

  /** 0 outside. */
  zero(i0: number, i1 = 0, i2 = 0, i3 = 0): number {
    const inside = [i0, i1, i2, i3].every((index, at) => index >= 0 && index < this.shape[at as 0]);
    return inside ? this.at(i0, i1, i2, i3) : 0;
  }

  map(f: (value: number) => number): Nd {
    return new Nd(this.shape, this.data.map(f));
  }

  row(i1 = 0, i2 = 0, i3 = 0): number[] {
    return Array.from({ length: this.shape[0] }, (_, i0) => this.at(i0, i1, i2, i3));
  }

  reshape(shape: readonly number[]): Nd {
    return new Nd(shape, this.data);
  }
}

/** Numbers by a function of their indices. */
export function nd(shape: readonly number[], f: (i0: number, i1: number, i2: number, i3: number) => number): Nd {
  const made = new Nd(shape);
  const [n0, n1, n2, n3] = made.shape;
  let at = 0;
  for (let i3 = 0; i3 < n3; i3++) {
    for (let i2 = 0; i2 < n2; i2++) {
      for (let i1 = 0; i1 < n1; i1++) {
        for (let i0 = 0; i0 < n0; i0++) made.data[at++] = f(i0, i1, i2, i3);
      }
    }
  }
  return made;
}

/** Each row by a function of it. */
export function rows(a: Nd, f: (row: number[], i1: number, i2: number, i3: number) => number[]): Nd {
  const made: number[][] = [];
  const [, n1, n2, n3] = a.shape;
  for (let i3 = 0; i3 < n3; i3++) {
    for (let i2 = 0; i2 < n2; i2++) {
      for (let i1 = 0; i1 < n1; i1++) made.push(f(a.row(i1, i2, i3), i1, i2, i3));
    }
  }
  return new Nd([made[0]!.length, n1, n2, n3], made.flat());
}

/** The whole numbers from 0 to below `count`. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

export const sumOf = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** The sum of `f` over 0 to `count`. */
export function sum(count: number, f: (index: number) => number): number {
  let total = 0;
  for (let index = 0; index < count; index++) total += f(index);
  return total;
}
