import type { Catalog } from '@fencepost/ledger/catalog';
import { isIdle, byName, type Knowledge } from './kept-definitions.js';
import type { Ledger } from '@fencepost/ledger';
import { now, type RecordedCall } from './recording.js';

/** What the oracle itself reads in the catalog, and when, as the recorders tell what pods read. */
export class OwnReadings {
  readonly #known: Knowledge[] = [];
  readonly #crons = new Set<string>();
  #text = '';

  constructor(private readonly catalog: Pick<Catalog, 'read'>) {}

  /** Of which there are some, or were; but for the idle ones. */
  get crons(): readonly string[] {
    return [...this.#crons];
  }

  get known(): readonly Knowledge[] {
    return this.#known;
  }

  async look(): Promise<void> {
    const calledAt = now();
    const { entries } = await this.catalog.read();
    const text = JSON.stringify(entries);
    for (const { definition } of entries) if (!isIdle(definition.name)) this.#crons.add(definition.name);
    if (text !== this.#text) this.#known.push({ process: 'oracle', calledAt, at: now(), entries: byName(entries) });
    this.#text = text;
  }
}

/** A ledger whose `resolve` is recorded as the pods record theirs: who answers has a part in the history too. */
export class OwnCalls {
  readonly calls: RecordedCall[] = [];

  over(ledger: Ledger): Ledger {
    const resolve: Ledger['resolve'] = async (...input) => {
      const calledAt = now();
      const call = { process: 'oracle', op: 'resolve', input, calledAt };
      try {
        const output = await ledger.resolve(...input);
        this.calls.push({ ...call, output, returnedAt: now() });
        return output;
      } catch (error) {
        this.calls.push({ ...call, output: undefined, returnedAt: Infinity });
        throw error;
      }
    };
    return new Proxy(ledger, {
      get: (target, key) => {
        if (key === 'resolve') return resolve;
        const member: unknown = Reflect.get(target, key, target);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }
}
