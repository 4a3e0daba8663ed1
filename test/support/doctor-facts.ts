import type { ServerFacts } from '@fencepost/lease/internal/redis-checks';
import type { PostgresFacts } from '@fencepost/ledger/postgres';
import type { CronOverview, PodCard } from '@fencepost/operations/internal';
import type { CatalogEntry, CronDefinition } from '@fencepost/ledger/catalog';
import type { JournalEntry } from '@fencepost/operations/journal';
import type { EventName } from '@fencepost/jobs';
import type { DoctorFacts, RedisFacts } from '../../libs/operations/src/operating/doctor-facts.js';
import { CRON, definitionOf, entryOf } from './audit-history.js';
import { podCard } from './pod-card.js';

export const NOW = Date.UTC(2026, 2, 2, 12);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A pod that reported a second ago and has run for hours. */
export function podOf(over: Partial<PodCard> = {}): PodCard {
  return { ...podCard(), startedAt: NOW - 5 * HOUR, seenAt: NOW - 1_000, ...over };
}

export function entryNamed(over: Partial<CronDefinition> = {}, of: Partial<CatalogEntry> = {}): CatalogEntry {
  const definition = definitionOf(over);
  const generation = {
    generation: 1,
    state: 'firing' as const,
    definition,
    since: NOW - DAY,
    by: 'app build 1',
    reason: null,
  };
  return { ...entryOf([generation]), source: 'app', zoneData: '2025c', ...of };
}

export function overviewNamed(over: Partial<CronOverview> = {}): CronOverview {
  return {
    ...{ name: CRON, expression: '* * * * * *', timeZone: 'UTC', state: 'firing', generation: 1, since: NOW - DAY },
    ...{ next: NOW + 1_000, paused: null, cursor: NOW, last: null, buildSeq: 1, source: 'app' },
    droppedNotifications: null,
    ...over,
  };
}

export function serverOf(over: Partial<ServerFacts> = {}): ServerFacts {
  return {
    ...{
      address: '127.0.0.1:6379',
      version: '7.0.15',
      role: 'master',
      clustered: false,
      runId: 'a',
      replicationId: 'b',
    },
    ...{ formerReplicationId: '0000', evictionPolicy: 'noeviction', evictedKeys: 0, usedBytes: 1, limitBytes: 0 },
    ...{
      appendOnly: true,
      appendFails: false,
      appendFsync: 'always',
      snapshots: '',
      replicas: 0,
      guardsReplicas: false,
    },
    ...{ clock: { aheadMs: 0, uncertainMs: 0.1 }, unasked: [] },
    ...over,
  };
}

export function redisOf(over: Partial<RedisFacts> = {}): RedisFacts {
  return { servers: [serverOf()], changes: [], late: [], queuePaused: false, ...over };
}

export function postgresOf(over: Partial<PostgresFacts> = {}): PostgresFacts {
  return {
    ...{ schema: 'fencepost', version: 1, expectedVersion: 1, functionsFit: true, missing: [] },
    settings: { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' },
    ...over,
  };
}

export function happenedAt(agoMs: number, event: EventName, over: Partial<JournalEntry> = {}): JournalEntry {
  return {
    ...{ id: '1-0', at: NOW - agoMs, pod: 'pod-a/01234567', role: 'scheduler', event, level: 'warn' },
    ...{ cron: null, runId: null, detail: {} },
    ...over,
  };
}

/** A deployment with nothing wrong: two pods of both roles, and a cron that they have. */
export function healthy(over: Partial<DoctorFacts> = {}): DoctorFacts {
  return {
    ...{
      now: NOW,
      ledger: 'redis',
      lastHeard: NOW - 500,
      bornAt: NOW - 30 * DAY,
      uncertain: [],
      happened: [],
      unread: [],
      lost: { count: 0, names: [] },
      outcomes: { looked: [], left: 0 },
    },
    ...{ pods: [podOf(), podOf({ pod: 'pod-b/fedcba9876543210', host: 'host-2' })] },
    ...{ entries: [entryNamed()], unreadable: [], crons: [overviewNamed()], redis: redisOf(), postgres: null },
    ...over,
  };
}
