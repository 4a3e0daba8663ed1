import { lateBy } from '@fencepost/operations/presenting';
import type { Run } from '@fencepost/ledger/run';
import { describe, expect, it, afterAll, beforeAll } from 'vitest';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { scrub } from '@fencepost/lease/internal';
import { CronAdapter, unreadSchedulers } from '../../libs/console/src/board/cron-adapter.js';
import { evaluateRules } from '../../libs/operations/src/alarms/evaluate-rules.js';
import { outcomeOf } from '../../libs/operations/src/operating/timeline-run.js';
import { HOUR, runAt, START, WAITING } from '../support/audit-history.js';
import { startSchedulerApp } from '../support/scheduler-app.js';
import { redisSpaces } from '../jobs/redis-space.js';
import { declared, FencepostDeployment } from '../support/fencepost-deployment.js';
import { fencepost } from '../support/fencepost.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';

/** A run whose instant was ten days ago, and which began now. */
const old = (over: Partial<Run>) =>
  runAt(START, { startedAt: START + 240 * HOUR, finishedAt: START + 241 * HOUR, ...over });

describe('a backfilled or manual run', () => {
  it.each(['backfill', 'manual'] as const)('has no lateness, whenever it began: %s', (reason) => {
    expect(lateBy(old({ reason }))).toBeNull();
    expect(outcomeOf(old({ reason }), 60_000)).toBe('ran');
  });

  it.each(['schedule', 'catch-up'] as const)('is told from one of the schedule, which is late: %s', (reason) => {
    expect(lateBy(old({ reason }))).toBe(240 * HOUR);
    expect(outcomeOf(old({ reason }), 60_000)).toBe('late');
  });

  it.each([
    ['schedule', ['late']],
    ['backfill', []],
    ['manual', []],
  ] as const)('rings no alarm about lateness while it waits: %s', (reason, kinds) => {
    const waiting = runAt(START, { ...WAITING, reason });
    const definition = { name: waiting.cron, lateAfterMs: 60_000 };
    const snapshot = {
      definition,
      now: START + HOUR,
      runs: [waiting],
      countFrom: START,
      successAt: START,
      nextDueAt: null,
    };
    const found = evaluateRules(snapshot as unknown as Parameters<typeof evaluateRules>[0]);
    expect(found.filter(({ kind }) => kind === 'late').map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe('the board, when the stores do not answer', () => {
  const known = { shown: [{ id: 'nightly', name: 'nightly', iterationCount: 3 }], at: new Date(START) };

  it('shows the list that was known last, and since when', () => {
    const [note, ...rest] = unreadSchedulers(known, new Error('Command timed out'));
    expect(note?.name).toContain(`NOT UP TO DATE, the rest is as of ${new Date(START).toISOString()}`);
    expect(rest).toEqual(known.shown);
  });

  it('shows one line where nothing was known yet, and never an empty list', async () => {
    const running = await startSchedulerApp();
    try {
      const away = () => Promise.reject(new Error('Command timed out'));
      const runs = running.app.get<BullmqRunQueue>(RUN_QUEUE, { strict: false });
      const gate = { run: (work: () => Promise<unknown>) => work() };
      const deps = { runs, gate, directory: { page: away, counts: away } };
      const adapter = new CronAdapter(deps as unknown as ConstructorParameters<typeof CronAdapter>[0]);
      expect(await adapter.getJobSchedulers()).toEqual([
        expect.objectContaining({ name: expect.stringContaining('NOT UP TO DATE, nothing is known yet') as string }),
      ]);
      expect(await adapter.getJobSchedulersCount()).toBe(1);
    } finally {
      await running.close();
    }
  });
});

describe('texts', () => {
  let server: PrivateRedis;

  beforeAll(async () => {
    server = await privateRedis();
  });

  afterAll(() => server.stop());

  const spaces = redisSpaces(() => server.url);

  describe('fencepost that is given the wrong prefix', () => {
    async function wrong(...args: string[]) {
      const there = await FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh(), tenant: 'acme' }, [
        declared('nightly'),
      ]);
      const { REDIS_URL = '' } = there.env;
      return { there, said: await fencepost(args, { env: { REDIS_URL, FENCEPOST_PREFIX: spaces.fresh().prefix } }) };
    }

    it.each([[['list']], [['list', '--json']], [['audit']], [['failed']], [['uncertain']], [['lint']]])(
      'says at %j under which prefixes and tenants the store has crons',
      async (args) => {
        const { there, said } = await wrong(...args);
        expect(said.err).toContain(`This store has crons under `);
        expect(said.err).toContain(`prefix "${there.prefix}", tenant "acme"`);
      },
    );

    it('says so where a cron is asked for that it does not know', async () => {
      const { there, said } = await wrong('show', 'nightly');
      expect([said.code, said.err]).toEqual([2, expect.stringContaining(`prefix "${there.prefix}", tenant "acme"`)]);
    });

    it('says nothing of others where there are crons', async () => {
      const at = await FencepostDeployment.of({ redis: spaces.redis(), ...spaces.fresh(), tenant: 'default' }, [
        declared('nightly'),
      ]);
      expect((await at.ask('list')).err).toBe('');
    });
  });

  describe('a fixed sentence about credentials', () => {
    it.each([
      'Unknown or missing token. Send "Authorization: Bearer <token>", or sign in on the page.',
      'Expected a token of a viewer as "Authorization: Bearer <token>". FENCEPOST_TOKENS names those that are known;',
    ])('is not masked: %s', (sentence) => {
      expect(scrub(sentence)).toBe(sentence);
    });

    it.each([
      'Authorization: Bearer abc',
      'authorization: basic dXNlcjpwYXNz',
      '"Authorization": "Bearer s3cret-token"',
    ])('that has one is masked: %s', (text) => {
      expect(scrub(text)).not.toMatch(/abc|dXNl|s3cret/);
    });
  });
});
