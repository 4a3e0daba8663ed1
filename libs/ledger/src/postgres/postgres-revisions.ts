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
import type { PostgresLedgerAccess } from './postgres-ledger-access.js';

/** Processes that enrol at once are written one at a time. */
const MAX_TRIES = 1_000;

interface RevisionsRow {
  readonly record: string | null;
  /** The server's clock, epoch milliseconds. */
  readonly now: number;
}

/** One row for each app, and one for the names of each of its newest revisions. */
export class PostgresRevisions implements Revisions {
  constructor(private readonly access: PostgresLedgerAccess) {}

  async enrol(set: DefinitionSet, hint?: EnrolmentHint): Promise<Revision> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const { record: known, now } = await this.#read(set.app);
      const { order, record, forgotten } = enrolment(known, { set, now, hint });
      const next = { order, record, names: setText(set), forgotten };
      const { space } = this.access;
      const written = await this.access.call<boolean>('enrol_revision', [space, set.app, known, next]);
      if (written) return revisionOf(order) ?? 0;
    }
    throw new Error(`The revisions of ${set.app} changed ${MAX_TRIES} times while a process enrolled.`);
  }

  async of(app: string): Promise<KnownRevision[]> {
    return readRevisions((await this.#read(app)).record);
  }

  async declaredBy(app: string, revisions: readonly Revision[]): Promise<(ReadonlyMap<string, string> | null)[]> {
    const orders = revisions.map((revision) => String(orderOf(revision)));
    const texts = await this.access.call<(string | null)[]>('read_sets', [this.access.space, app, orders]);
    return texts.map((text) => (text === null ? null : readSetText(text)));
  }

  #read(app: string): Promise<RevisionsRow> {
    return this.access.call('read_revisions', [this.access.space, app]);
  }
}
