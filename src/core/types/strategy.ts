/** What the program has to know of a strategy before anything starts. How it works is in src/workspace/layer. */
export interface StrategyFacts {
  /** Where base and layer are stored: in directories of this machine, or in volumes of the engine. */
  readonly storage: 'host' | 'engine';
  /** Works only where the engine mounts an overlay volume over directories of this machine, which is tried once. */
  readonly needsOverlayTrial: boolean;
  /** A base generation may hold only what differs from another one: the kernel joins the two. */
  readonly joinsGenerations: boolean;
  /** Every session starts with a copy of the whole project. */
  readonly copiesProject: boolean;
}

/** Every strategy, the preferred one first: `auto` takes the first that works. */
export const STRATEGIES = {
  layers: { storage: 'host', needsOverlayTrial: true, joinsGenerations: true, copiesProject: false },
  copy: { storage: 'host', needsOverlayTrial: false, joinsGenerations: false, copiesProject: true },
  volume: { storage: 'engine', needsOverlayTrial: false, joinsGenerations: false, copiesProject: false },
  claim: { storage: 'engine', needsOverlayTrial: false, joinsGenerations: false, copiesProject: true },
} as const satisfies Readonly<Record<string, StrategyFacts>>;

/** A way to give the agent a copy of the project: a layer of its own over a base. */
export type StrategyName = keyof typeof STRATEGIES;

export const STRATEGY_NAMES = Object.keys(STRATEGIES) as readonly StrategyName[];
