import { ownerPrefix } from '@fencepost/lease/internal';
import { z } from 'zod';
import { count, instant, iso, msOrNull, revisionOrNull, textOrNull } from './values.js';

export const podSchema = z
  .strictObject({
    pod: z.string().describe('Label and the first characters of its identity.'),
    label: z.string().describe('Its name; only a label.'),
    roles: z.array(z.string()).describe('scheduler, worker, or both.'),
    host: z.string().describe('Host name of its machine.'),
    pid: z.int().describe('Its process id.'),
    startedAt: instant.describe('When it started.'),
    version: z.string().describe('The version of the library.'),
    node: z.string().describe('The version of Node.js.'),
    zoneData: z.string().describe('The version of its time zone database.'),
    app: textOrNull.describe('Its app.'),
    revision: revisionOrNull.describe('The revision of its definitions; null: it declares none.'),
    ledger: z.string().describe('Where it keeps runs and effects.'),
    clockSkewMs: msOrNull.describe('How far its clock is ahead of that of the store.'),
    rttMs: msOrNull.describe('How long the store takes to answer it.'),
    lagMs: msOrNull.describe('Event loop lag, p99.'),
    leaseTtlMs: msOrNull.describe('How long its leases last.'),
    leases: textOrNull.describe('Scheduler: where it keeps the leases of crons.'),
    leaseNodes: z
      .array(
        z.strictObject({
          node: z.string().describe('Its address.'),
          healthy: z.boolean().describe('false: this pod leaves it out because it fails.'),
        }),
      )
      .describe('Scheduler: the servers of the quorum on which it keeps leases; empty where that is no quorum.'),
    assigned: count.nullable().describe('Scheduler: number of crons assigned to it.'),
    held: count.nullable().describe('Scheduler: number of leases it holds.'),
    lateMs: msOrNull.describe('Scheduler: how late the oldest cron is that it has not dispatched.'),
    backlog: count.nullable().describe('Scheduler: number of crons that are due and not dispatched.'),
    weight: z.number().nullable().describe('Scheduler: its share relative to the others; below 1 after it was behind.'),
    concurrency: count.nullable().describe('Worker: maximum of concurrent runs.'),
    running: count.nullable().describe('Worker: number of current runs.'),
    handlers: z.array(z.string()).describe('Worker: names of its handlers.'),
    seenAt: instant.describe('When it last reported.'),
  })
  .describe('A process of the deployment, as it reports about itself.');

export const podListSchema = z
  .strictObject({
    items: z.array(podSchema),
    unreported: z
      .array(z.string())
      .nullable()
      .describe('Live processes that report nothing, such as those of an earlier release; null: unknown.'),
  })
  .describe('Pods that reported recently.');

export type PodJson = z.infer<typeof podSchema>;

/** What a pod reports, with instants in epoch milliseconds. */
export interface PodSeen extends Omit<
  PodJson,
  'startedAt' | 'seenAt' | 'roles' | 'handlers' | 'leases' | 'leaseNodes' | 'lateMs' | 'backlog' | 'weight'
> {
  readonly lateMs?: number;
  readonly backlog?: number;
  readonly weight?: number;
  readonly leases?: string;
  readonly leaseNodes?: readonly PodJson['leaseNodes'][number][];
  readonly roles: readonly string[];
  readonly handlers: readonly string[];
  readonly startedAt: number;
  readonly seenAt: number;
}

export function presentPod(card: PodSeen): PodJson {
  return {
    ...{ pod: ownerPrefix(card.pod), label: card.label, roles: [...card.roles], host: card.host, pid: card.pid },
    ...{ startedAt: iso(card.startedAt), version: card.version, node: card.node, zoneData: card.zoneData },
    ...{ app: card.app, revision: card.revision, ledger: card.ledger },
    ...{ clockSkewMs: card.clockSkewMs, rttMs: card.rttMs, lagMs: card.lagMs, leaseTtlMs: card.leaseTtlMs },
    ...{ leases: card.leases ?? null, leaseNodes: [...(card.leaseNodes ?? [])] },
    ...{ lateMs: card.lateMs ?? null, backlog: card.backlog ?? null, weight: card.weight ?? null },
    ...{ assigned: card.assigned, held: card.held, concurrency: card.concurrency, running: card.running },
    ...{ handlers: [...card.handlers], seenAt: iso(card.seenAt) },
  };
}

/** @param live processes that report nothing are shown by name: they say nothing of themselves */
export function presentPodList(live: PodsSeen): z.infer<typeof podListSchema> {
  return { items: live.pods.map(presentPod), unreported: live.unreported && [...live.unreported] };
}

interface PodsSeen {
  readonly pods: readonly PodSeen[];
  readonly unreported: readonly string[] | null;
}
