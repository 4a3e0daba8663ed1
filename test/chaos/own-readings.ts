import type { Catalog } from '@fencepost/ledger/catalog';
import { isKept } from './kept-definitions.js';
import { byName, type Knowledge } from './knowledge.js';
import { now } from './own-calls.js';

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
    for (const { definition } of entries) if (!isKept(definition.name)) this.#crons.add(definition.name);
    if (text !== this.#text) this.#known.push({ process: 'oracle', calledAt, at: now(), entries: byName(entries) });
    this.#text = text;
  }
}
