import type { Pool } from 'pg';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import type { Membership, RunQueue } from '@fencepost/jobs/internal';

import type { LeaseSystem } from './leases/lease-system.js';

/** A part of a chaos run: one fleet on one topology, with a key space and a recording of its own. */
export interface Episode {
  /** As it is told, such as `single` or `sentinel`. */
  readonly topology: string;
  readonly ledgerKind: 'redis' | 'postgres';
  /** How wrong the clock of its Redis is made at the most, milliseconds. */
  readonly clockErrorMs: number;
  /** Of the pods. */
  readonly prefix: string;
  /** What all of its pods have as `RECORD_TO`. */
  readonly recording: string;
  /** What all of its workers have as `SINK_REDIS_URL`. */
  readonly sinkUrl: string;
  /** The episode's stores, seen from outside: asked while the nemesis strikes, and after all is healed. */
  readonly stores: EpisodeStores;
  /** Where the leases of crons are, when that is not its Redis. */
  readonly leases?: Pick<LeaseSystem, 'judge'>;
  /** Of the ledger, when that is in PostgreSQL. */
  readonly database?: { readonly pool: Pool; readonly schema: string };
}

export interface EpisodeStores {
  readonly ledger: Ledger;
  readonly catalog: Omit<Catalog, 'declare' | 'outgrow' | 'watch'>;
  readonly trail: Pick<AuditTrail, 'append' | 'list'>;
  readonly membership: Pick<Membership, 'publishDue' | 'lastHeard'>;
  readonly queue: Pick<RunQueue, 'enqueue'>;
}
