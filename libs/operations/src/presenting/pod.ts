import { ownerPrefix } from '@fencepost/lease/internal';
import { z } from 'zod';
import { count, instant, iso, msOrNull, textOrNull } from './values.js';

export const podSchema = z
  .strictObject({
    pod: z.string().describe('Label and the first characters of its identity.'),
    label: z.string().describe('What it is called; only a label.'),
    roles: z.array(z.string()).describe('scheduler, worker, or both.'),
    host: z.string().describe('The machine it runs on, as that machine calls itself.'),
    pid: z.int().describe('Its process there.'),
    startedAt: instant.describe('When it started.'),
    version: z.string().describe('The version of the library.'),
    node: z.string().describe('The version of Node.js.'),
    zoneData: z.string().describe('The version of its time zone database.'),
    app: textOrNull.describe('The program it is built from.'),
    buildSeq: z.int().nullable().describe('The build it runs.'),
    ledger: z.string().describe('Where it keeps runs and effects.'),
    clockSkewMs: msOrNull.describe('How far its clock is ahead of that of the store.'),
    rttMs: msOrNull.describe('How long the store takes to answer it.'),
    lagMs: msOrNull.describe('How long its event loop is busy at a time, p99.'),
    leaseTtlMs: msOrNull.describe('How long its leases last.'),
    share: count.nullable().describe('A scheduler: how many crons are its share.'),
    held: count.nullable().describe('A scheduler: how many it holds.'),
    concurrency: count.nullable().describe('A worker: how many runs it carries out at once.'),
    running: count.nullable().describe('A worker: how many it carries out now.'),
    handlers: z.array(z.string()).describe('A worker: the names it can carry out.'),
    seenAt: instant.describe('When it last reported.'),
  })
  .describe('A process of the deployment, as it reports about itself.');

export type PodJson = z.infer<typeof podSchema>;

/** What a pod reports, with instants in epoch milliseconds. */
export interface PodSeen extends Omit<PodJson, 'startedAt' | 'seenAt' | 'roles' | 'handlers'> {
  readonly roles: readonly string[];
  readonly handlers: readonly string[];
  readonly startedAt: number;
  readonly seenAt: number;
}

export function presentPod(card: PodSeen): PodJson {
  return {
    ...{ pod: ownerPrefix(card.pod), label: card.label, roles: [...card.roles], host: card.host, pid: card.pid },
    ...{ startedAt: iso(card.startedAt), version: card.version, node: card.node, zoneData: card.zoneData },
    ...{ app: card.app, buildSeq: card.buildSeq, ledger: card.ledger },
    ...{ clockSkewMs: card.clockSkewMs, rttMs: card.rttMs, lagMs: card.lagMs, leaseTtlMs: card.leaseTtlMs },
    ...{ share: card.share, held: card.held, concurrency: card.concurrency, running: card.running },
    ...{ handlers: [...card.handlers], seenAt: iso(card.seenAt) },
  };
}
