/** One leaf of a structured file: `a.b[].c`, array positions left out, value as text. */
export interface Leaf {
  readonly key: string;
  readonly value: string;
}
