import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { RedisMembership, uuidV7 } from '@fencepost/jobs/internal';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { definitionSet } from '@fencepost/ledger/catalog';
import { FIRST_FORMAT, FORMAT } from '@fencepost/ledger/format';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { RedisJournal } from '@fencepost/operations/journal';
import { by, cron, gone, order } from '../contracts/catalog/stage.js';
import { happened } from '../contracts/journal.contract.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { dumpKeys, restoreKeys, type Dump } from './dump.js';

type Place = { readonly redis: Redis; readonly prefix: string; readonly tenant: string };

/** One kind of record: how a build writes some of it, and how it reads them. */
interface Kind {
  readonly write: (at: Place) => Promise<unknown>;
  readonly read: (at: Place) => Promise<unknown>;
}

interface Kept {
  readonly keys: Dump;
  readonly read: unknown;
}

const here = new URL('.', import.meta.url);
const formats = readdirSync(here, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));
const spaces = redisSpaces();
const TEXTS = { description: 'Reports the night', owner: 'ops', runbookUrl: 'https://wiki.example/report' };
const TOLD = { by: 'ada', role: 'operator', reason: 'the printer burns', from: 'cli host-1' };
/** `FENCEPOST_WRITE_FORMAT=1 npx vitest run test/formats` keeps what this build writes; once, before its release. */
const writes = process.env['FENCEPOST_WRITE_FORMAT'] === '1';

const KINDS: Readonly<Record<string, Kind>> = {
  catalog: {
    write: async (at) => {
      const catalog = new RedisCatalog({ ...at, zoneData: '2026z' });
      await catalog.declare([cron(), cron({ name: 'gone' }), cron({ name: 'off' }, true)], by(7, 'the shop'));
      await catalog.declare(
        [cron({ expression: '0 4 * * *', tags: ['pay'], ...TEXTS }), cron({ name: 'off' }, true)],
        by(8, 'the shop'),
      );
      await catalog.drop(['gone'], by(8, 'the shop', { gone: [gone(7, 'the shop')] }));
      await catalog.revisions.enrol(definitionSet({ app: 'the shop' }, [cron()]));
      await catalog.revisions.enrol(definitionSet({ app: 'the shop', explicit: 42 }, [cron({ name: 'off' }, true)]));
      await catalog.put(cron({ name: 'made', payload: { text: 'a\ttab\nand a line' } }), order(null));
      await catalog.remove('made', order(1));
      await catalog.outgrow('nightly-report', 40);
    },
    read: async (at) => {
      const catalog = new RedisCatalog({ ...at, zoneData: '2026z' });
      const { readAt, ...reading } = await catalog.read();
      expect(readAt).toBeGreaterThan(0);
      const revisions = await catalog.revisions.of('the shop');
      // Records of a format before know none.
      return revisions.length === 0 ? reading : { ...reading, revisions };
    },
  },
  audit: {
    write: async (at) => {
      const trail = new RedisAuditTrail(at);
      await trail.append({ ...TOLD, action: 'pause', cron: 'report', runId: null, before: null, after: { paused: 1 } });
      const crons = ['report', 'backup'];
      await trail.append({ ...TOLD, crons, action: 'resume', cron: null, runId: null, before: 'x', after: null });
    },
    read: (at) => new RedisAuditTrail(at).list({ limit: 10 }),
  },
  journal: {
    write: (at) => {
      const detail = { fence: '1787654321123456', crons: ['a', 'b'], none: null };
      return new RedisJournal(at).append([happened('lease.lost', { level: 'warn', detail }), happened('catalog.read')]);
    },
    read: (at) => new RedisJournal(at).latest({ limit: 10 }),
  },
  notifications: {
    write: async (at) => {
      const [ledger, runId] = [new RedisLedger(at), `nightly@manual-${uuidV7(Date.now(), randomUUID())}`];
      const rest = {
        by: TOLD.by,
        payload: null,
        handler: null,
        missed: null,
        overlap: 'skip',
        scheduledAt: null,
      } as const;
      const reply = await ledger.trigger({ runId, nonce: 'n', generation: 1, reason: 'manual', ...rest });
      expect(reply.verdict).toBe('claimed');
      const request = { runId, nonce: 'a', worker: 'w', ttlMs: 60_000, maxAttempts: 3, notify: 'failed,ping:failed' };
      const begun = await ledger.begin(request);
      if (begun.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${begun.verdict}.`);
      await ledger.finish({ runId, nonce: 'a', fence: begun.fence }, { kind: 'failed', error: 'two\nlines' });
    },
    read: (at) => new RedisLedger(at).notifications('nightly', 10),
  },
};

describe.skipIf(!writes)('this build', () => {
  it('keeps what it writes', async () => {
    const kept: Record<string, Kept> = {};
    for (const [name, { write, read }] of Object.entries(KINDS)) {
      const at = { redis: spaces.redis(), ...spaces.fresh() };
      await write(at);
      kept[name] = { keys: await dumpKeys(at.redis, at.prefix), read: await read(at) };
    }
    expect(JSON.stringify(kept['catalog']?.read)).toContain('nightly-report');
    const folder = new URL(`${FORMAT}/`, here);
    if (!existsSync(folder)) mkdirSync(folder);
    writeFileSync(new URL('records.json', folder), `${JSON.stringify(kept, null, 2)}\n`);
  });
});

describe.each(formats)('records of format %s', (format) => {
  const kept = JSON.parse(readFileSync(new URL(`${format}/records.json`, here), 'utf8')) as Record<string, Kept>;

  it.each(Object.keys(KINDS))('are read as they were written: %s', async (name) => {
    const { keys, read } = kept[name] as Kept;
    const at = { redis: spaces.redis(), ...spaces.fresh() };
    await restoreKeys(at.redis, at.prefix, keys);
    expect(JSON.parse(JSON.stringify(await KINDS[name]?.read(at)))).toEqual(read);
    expect(JSON.stringify(read)).toMatch(/nightly|report/);
  });
});

describe('a process of another format', () => {
  it('is written by, and read', async () => {
    const at = { redis: spaces.redis(), ...spaces.fresh() };
    await new RedisMembership({ ...at, format: FORMAT + 1 }).heartbeat('new');
    expect((await new RedisMembership(at).heartbeat('this')).lowest).toEqual({ process: 'this', format: FORMAT });
  });

  it('keeps what it does not know when it writes a declaration anew', async () => {
    const at = { redis: spaces.redis(), ...spaces.fresh() };
    const [catalog, key] = [new RedisCatalog(at), redisKeys(at)('catalog', 'declared')];
    await catalog.declare([cron()], by(1));
    const known = (await at.redis.hget(key, 'nightly-report')) ?? '';
    await at.redis.hset(key, 'nightly-report', `${FORMAT + 1}${known.slice(1)}\tmore`);
    await catalog.declare([cron()], by(2));
    expect(await at.redis.hget(key, 'nightly-report')).toMatch(/^\d 200 \w+ live shop\tmore$/);
    expect((await catalog.read()).entries).toMatchObject([{ app: 'shop', revision: 2 }]);
  });

  it('defines nothing over a declaration that it cannot read, and sets the cron aside with one sentence', async () => {
    const at = { redis: spaces.redis(), ...spaces.fresh() };
    const [catalog, key] = [new RedisCatalog(at), redisKeys(at)('catalog', 'declared')];
    await catalog.declare([cron(), cron({ name: 'other' })], by(1));
    const newer = `${FORMAT + 2} 9 abc live shop`;
    await at.redis.hset(key, 'nightly-report', newer);
    expect(await catalog.declare([cron()], by(2))).toEqual([{ cron: 'nightly-report', word: 'later' }]);
    expect(await at.redis.hget(key, 'nightly-report')).toBe(newer);
    const { entries, unreadable } = await catalog.read();
    expect(entries.map(({ definition }) => definition.name)).toEqual(['other']);
    const reason = `Expected a declaration of format ${FIRST_FORMAT} to ${FORMAT + 1}, got "${newer}". Upgrade this process.`;
    expect(unreadable).toEqual([{ name: 'nightly-report', reason }]);
  });
});
