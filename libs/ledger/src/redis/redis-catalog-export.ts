import { redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { keptRecordAt } from './redis-audit-trail.js';

/** Everything of a catalog in Redis that a catalog in PostgreSQL takes over. */
export interface ExportedCatalog {
  readonly version: number;
  readonly bornAt: number;
  readonly crons: readonly {
    readonly name: string;
    /** As begin-generation.lua writes them. */
    readonly lines: string;
    /** As judge-declaration.lua reads it, without its format: a table has columns. */
    readonly declared: string;
    readonly deleteAt: number | null;
  }[];
  /** The highest build of each app, which former releases compare with their own. */
  readonly builds: readonly { readonly app: string; readonly seq: number }[];
  /** See enrolment.ts. */
  readonly revisions: readonly { readonly app: string; readonly record: string }[];
  readonly sets: readonly { readonly app: string; readonly order: number; readonly names: string }[];
  /** The oldest first. */
  readonly records: readonly ExportedRecord[];
  readonly alarms: readonly { readonly cron: string; readonly record: string }[];
}

export interface ExportedRecord {
  readonly id: string;
  readonly nonce: string;
  readonly cron: string | null;
  readonly runId: string | null;
  /** JSON. */
  readonly record: string;
}

type Replies = [
  version: string | null,
  bornAt: string | null,
  crons: Record<string, string>,
  declared: Record<string, string>,
  builds: Record<string, string>,
  revisions: Record<string, string>,
  sets: Record<string, string>,
  tombstones: string[],
  records: [id: string, fields: string[]][],
  alarms: Record<string, string>,
];

/** Reads it as of one moment; `null` where Redis never had one. */
export async function exportRedisCatalog(redis: RedisClient, space: KeySpace): Promise<ExportedCatalog | null> {
  const key = (part: string) => redisKeys(space)('catalog', part);
  if ((await redis.exists(key('version'))) === 0) return null;
  const replies = await redis
    .multi()
    .get(key('version'))
    .get(key('born'))
    .hgetall(key('crons'))
    .hgetall(key('declared'))
    .hgetall(key('builds'))
    .hgetall(key('revisions'))
    .hgetall(key('revision-sets'))
    .zrange(key('tombstones'), '0', '-1', 'WITHSCORES')
    .xrange(key('audit'), '-', '+')
    .hgetall(key('alarms'))
    .exec();
  const failed = replies?.find(([error]) => error !== null);
  if (failed?.[0]) throw failed[0];
  return exported((replies ?? []).map(([, reply]) => reply) as Replies);
}

function exported(replies: Replies): ExportedCatalog {
  const [version, bornAt, crons, declared, builds, revisions, sets, tombstones, records, alarms] = replies;
  const deleteAt = new Map<string, number>();
  for (let at = 0; at < tombstones.length; at += 2) deleteAt.set(tombstones[at] ?? '', Number(tombstones[at + 1]));
  return {
    version: Number(version),
    // A catalog of an early release noted no birth: it was there before anything that still counts.
    bornAt: Number(bornAt ?? 0),
    crons: Object.entries(crons).map(([name, lines]) => {
      return {
        name,
        lines,
        declared: declared[name]?.replace(/^\d+ /, '') ?? '0 0 live ',
        deleteAt: deleteAt.get(name) ?? null,
      };
    }),
    builds: Object.entries(builds).map(([app, seq]) => ({ app, seq: Number(seq) })),
    revisions: Object.entries(revisions).map(([app, record]) => ({ app, record })),
    sets: Object.entries(sets).map(([field, names]) => {
      const [, order, app = ''] = /^(\d+) (.*)$/s.exec(field) ?? [];
      return { app, order: Number(order), names };
    }),
    records: records.map(keptRecordAt),
    alarms: Object.entries(alarms).map(([cron, record]) => ({ cron, record })),
  };
}
