import type { FailPoints, Fault, Mishap, Write } from './fail-points.js';

/** Where the next worker that gets there comes to harm. Writes are those of the ledger. */
export interface Injector {
  /** Before this is written. `effect`: of which one; of any by default. */
  before(write: Write, effect?: string): Fault;
  /** After it was written, and before the worker hears of it. */
  after(write: Write, effect?: string): Fault;
  /** The run is begun, and its handler is not called. */
  afterBegin(): Fault;
  /** The effect is begun, and what it does is not called. */
  beforeEffect(effect: string): Fault;
  /** It has happened, and nobody has written that down. */
  afterEffect(effect: string): Fault;
  /** The handler has returned, and the run doesn't know. */
  beforeFinish(): Fault;
}

export function injectorOf(points: FailPoints, mishap: Extract<Mishap, 'crash' | 'freeze'>): Injector {
  const before = (write: Write, effect?: string) => points.plan({ mishap, when: 'before', write, effect });
  const after = (write: Write, effect?: string) => points.plan({ mishap, when: 'after', write, effect });
  return {
    before,
    after,
    afterBegin: () => after('begin'),
    beforeEffect: (effect) => after('beginEffect', effect),
    afterEffect: (effect) => before('finishEffect', effect),
    beforeFinish: () => before('finish'),
  };
}
