export type EffectKind = 'effect' | 'items' | 'transaction';

export type Policy = 'retry' | 'ask' | 'lookup';

/** A handler asks for an effect. */
export interface Request {
  readonly attempt: number;
  readonly name: string;
  readonly kind: EffectKind;
  readonly policy: Policy;
  /** `null` where the handler doesn't say what it sends. */
  readonly payloadHash: string | null;
  /** 0 where there is none. */
  readonly timeoutMs: number;
}

/** What a function has taken from its context, or from the run while it was called. */
export type Read = 'idempotencyKey' | 'fence' | 'signal';

/** One call of an effect's function, or of that of one item. */
export interface Call {
  readonly attempt: number;
  readonly name: string;
  /** Its key, for one of many. */
  readonly item: string | null;
  readonly idempotencyKey: string;
  readonly fence: number;
  readonly reads: Set<Read>;
  /** Whether its attempt was over when the engine called it. */
  readonly beganLate: boolean;
  /** `cut off`: still called when the run was over, as of a worker that was killed. */
  ended: 'returned' | 'threw' | 'cut off';
  result: unknown;
  /** Its attempt was over, and another one called the same before it came back. */
  wentOn: boolean;
}

/** What a lookup said. */
export interface Looked {
  readonly name: string;
  readonly answer: string;
}

/** The key of an item, as one attempt has it. */
export interface ItemKey {
  readonly attempt: number;
  readonly name: string;
  readonly key: string;
  /** Of the item. */
  readonly hash: string | null;
}

/** A handler that returned although an effect of it was refused. */
export interface Swallowed {
  readonly name: string;
  readonly error: string;
}

/** All that was seen of one run. */
export interface Observations {
  readonly requests: readonly Request[];
  readonly calls: readonly Call[];
  readonly looked: readonly Looked[];
  readonly keys: readonly ItemKey[];
  readonly swallowed: readonly Swallowed[];
  /** Attempts whose handler came to its end, in whatever way. */
  readonly ended: ReadonlySet<number>;
}
