import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ServerFacts } from '@fencepost/lease/internal/redis-checks';
import type { PostgresFacts } from '@fencepost/ledger/postgres';
import type { CronOverview } from './cron-overview.js';
import type { LiveProcess, PodCard, QueueLimits } from '@fencepost/jobs/internal';
import type { CatalogEntry, CronDefinition } from '@fencepost/ledger/catalog';
import type { JournalEntry } from '../journal/journal.js';
import type { EventName } from '@fencepost/jobs';
import type { DoctorFacts, RedisFacts } from './doctor-facts.js';
import type { LiveDeclarations, LiveRevision } from './live-revisions.js';
import { CRON, definitionOf, entryOf } from '../../../../test/support/audit-history.js';
import { podCard } from '../../../../test/contracts/pod-registry.contract.js';
import { judgeDeployment } from './doctor.js';

export const NOW = Date.UTC(2026, 2, 2, 12);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A pod that reported a second ago and has run for hours. */
export function podOf(over: Partial<PodCard> = {}): PodCard {
  return { ...podCard(), startedAt: NOW - 5 * HOUR, seenAt: NOW - 1_000, ...over };
}

/** A queue on which nothing is set and nothing waits, but for what a test says. */
export function limitsOf(over: Partial<QueueLimits> = {}): QueueLimits {
  return { queue: 'runs', isPaused: false, pausedUnlike: null, concurrency: null, rate: null, waiting: 0, ...over };
}

/** A live process of a former build, which reports nothing. */
export function processNamed(process: string, isScheduler = false): LiveProcess {
  return { process, isScheduler, sinceHeardMs: 300 };
}

export function entryNamed(over: Partial<CronDefinition> = {}, of: Partial<CatalogEntry> = {}): CatalogEntry {
  const definition = definitionOf(over);
  const generation = {
    generation: 1,
    state: 'active' as const,
    definition,
    since: NOW - DAY,
    by: 'app revision 1',
    reason: null,
  };
  return { ...entryOf([generation]), app: 'app', revision: 1, zoneData: '2025c', ...of };
}

export function overviewNamed(over: Partial<CronOverview> = {}): CronOverview {
  return {
    ...{ name: CRON, expression: '* * * * * *', timeZone: 'UTC', state: 'active', generation: 1, since: NOW - DAY },
    ...{ next: NOW + 1_000, paused: null, cursor: NOW, last: null, revision: 1, app: 'app' },
    ...{ tags: [], description: null, owner: null, runbookUrl: null, droppedNotifications: null },
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
  return { servers: [serverOf()], changes: [], late: [], queues: [], ...over };
}

export function postgresOf(over: Partial<PostgresFacts> = {}): PostgresFacts {
  return {
    ...{ schema: 'fencepost', version: 1, minimum: 1, expectedVersion: 1, functionsFit: true, missing: [] },
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

/** What the registry says of these pods. Unless given, the catalog no longer keeps what their revisions declare. */
export function liveOf(pods: readonly PodCard[], over: Partial<LiveDeclarations> = {}): LiveDeclarations {
  const keys = new Map(pods.map((pod) => [`${pod.revision} ${pod.app}`, pod]));
  const revisions = [...keys.values()].flatMap(({ app, revision }): LiveRevision[] => {
    if (revision === null) return [];
    return [{ app, revision, crons: null, pods: pods.filter((pod) => pod.app === app && pod.revision === revision) }];
  });
  const sorted = revisions.toSorted((a, b) => (a.app < b.app ? -1 : Number(a.app > b.app)) || b.revision - a.revision);
  return { now: NOW, bornAt: NOW - 30 * DAY, pods, revisions: sorted, heard: [], ...over };
}

/** A deployment with nothing wrong: two pods of both roles, and a cron that they have. */
export function healthy(over: Partial<DoctorFacts> = {}): DoctorFacts {
  const pods = [podOf(), podOf({ pod: 'pod-b/fedcba9876543210', host: 'host-2' })];
  return {
    live: liveOf(over.pods ?? pods),
    ...{
      now: NOW,
      ledger: 'redis',
      lastHeard: NOW - 500,
      bornAt: NOW - 30 * DAY,
      uncertain: [],
      happened: [],
      unread: [],
      unreported: over.live === null ? null : [],
      lost: { count: 0, names: [] },
      outcomes: { looked: [], left: 0 },
    },
    pods,
    ...{ entries: [entryNamed()], unreadable: [], crons: [overviewNamed()], redis: redisOf(), postgres: null },
    ...over,
  };
}

export type Over = Partial<DoctorFacts>;

/** What is different from a healthy deployment, and the findings that come of it; `null`: none. */
export type Row = readonly [what: string, facts: Over, found: string | readonly string[] | null];

function listOf(expected: Row[2]): readonly string[] {
  return typeof expected === 'string' ? [expected] : (expected ?? []);
}

/** The pods of a healthy deployment. */
export const [ONE = podOf(), OTHER = podOf()] = healthy().pods;

export const withOne = (over: Parameters<typeof podOf>[0]): Over => ({ pods: [{ ...ONE, ...over }, OTHER] });

export const withBoth = (over: Parameters<typeof podOf>[0]): Over => ({
  pods: [
    { ...ONE, ...over },
    { ...OTHER, ...over },
  ],
});

export const withServer = (over: Parameters<typeof serverOf>[0]): Over => ({
  redis: redisOf({ servers: [serverOf(over)] }),
});

/** `<level> <code> <subject>` of each but the last, which says what was looked at. */
export function found(over: Over): string[] {
  const findings = judgeDeployment(healthy(over)).filter(({ level }) => level !== 'ok');
  return findings.map(({ level, code, subject }) => `${level} ${code} ${subject}`);
}

/** @param room the file that has the rules, none of which may be missing in the table */
export function describeFindings(file: string, table: readonly Row[]): void {
  describe(`the rules of ${file}`, () => {
    it.each(table)('find it where %s', (_what, facts, expected) => {
      expect(found(facts)).toEqual(listOf(expected));
    });

    it.each(table)('say it in sentences, with what to do, where %s', (_what, facts) => {
      for (const { text, todo, level } of judgeDeployment(healthy(facts))) {
        expect(text).toMatch(/^["\w].*[.:] ?\w*$/s);
        expect(`${text} ${todo}`).not.toMatch(/undefined|NaN|\[object/);
        expect(todo ?? (level === 'bad' || level === 'warn' ? '' : 'nothing to do')).toMatch(/.{10}/);
      }
    });

    it('are all in the table', () => {
      const text = readFileSync(new URL(`${file}.ts`, import.meta.url), 'utf8');
      const codes = [...text.matchAll(/code: '([A-Z_]+)'/g)].map(([, code = '']) => code);
      const shown = new Set(table.flatMap(([, , expected]) => listOf(expected).map((one) => one.split(' ')[1])));
      expect(codes.length).toBeGreaterThan(4);
      expect(codes.filter((code) => !shown.has(code))).toEqual([]);
    });
  });
}
