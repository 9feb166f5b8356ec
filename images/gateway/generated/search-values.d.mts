// What the gateway uses of search-values.mjs.

export declare class ValueSearch {
  readonly found: ReadonlySet<number>;
  readonly steps: number;
  push(bytes: Uint8Array): boolean;
}

export declare class SearchedValues {
  constructor(values: readonly string[]);
  search(): ValueSearch;
  inName(name: string): readonly number[];
}

export declare function searchContents(values: SearchedValues, bytes: Uint8Array): ReadonlySet<number>;
