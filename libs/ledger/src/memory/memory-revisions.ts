import type { Clock } from '@fencepost/lease';
import type { Revisions } from '../catalog/catalog.js';
import { enrolment, readRevisions } from '../catalog/enrolment.js';
import { orderOf, revisionOf, type Revision } from '../catalog/revision.js';
import {
  readSetText,
  setText,
  type DefinitionSet,
  type EnrolmentHint,
  type KnownRevision,
} from '../catalog/definition-set.js';

export interface SavedRevisions {
  readonly records: ReadonlyMap<string, string>;
  readonly sets: ReadonlyMap<string, string>;
}

/** The revisions of each app in memory. */
export class MemoryRevisions implements Revisions {
  readonly #records = new Map<string, string>();
  readonly #sets = new Map<string, string>();

  constructor(private readonly clock: Clock) {}

  async enrol(set: DefinitionSet, hint?: EnrolmentHint): Promise<Revision> {
    const { app } = set;
    const { order, record, forgotten } = enrolment(this.#records.get(app) ?? null, {
      set,
      now: this.clock.now(),
      hint,
    });
    this.#records.set(app, record);
    this.#sets.set(`${order} ${app}`, setText(set));
    for (const old of forgotten) this.#sets.delete(`${old} ${app}`);
    return revisionOf(order) ?? 0;
  }

  async of(app: string): Promise<KnownRevision[]> {
    return readRevisions(this.#records.get(app) ?? null);
  }

  async declaredBy(app: string, revisions: readonly Revision[]): Promise<(ReadonlyMap<string, string> | null)[]> {
    const texts = revisions.map((revision) => this.#sets.get(`${orderOf(revision)} ${app}`));
    return texts.map((text) => (text === undefined ? null : readSetText(text)));
  }

  save(): SavedRevisions {
    return { records: new Map(this.#records), sets: new Map(this.#sets) };
  }

  restore({ records, sets }: SavedRevisions): void {
    this.clear();
    for (const [app, record] of records) this.#records.set(app, record);
    for (const [key, names] of sets) this.#sets.set(key, names);
  }

  clear(): void {
    this.#records.clear();
    this.#sets.clear();
  }
}
