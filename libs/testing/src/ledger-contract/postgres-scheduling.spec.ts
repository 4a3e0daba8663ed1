import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Pool, QueryConfig } from 'pg';
import type { ClaimRequest } from '@fencepost/ledger';
import { lateDuplicateContract } from './late-duplicate.contract.js';
import { stageIn } from './postgres.stage.js';
import { fence, LONG_MS } from './stage.js';
import {
  postgresLedgerSandbox,
  SPACE,
  type PostgresLedgerSandbox,
} from '../../../../test/support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../../../../test/support/postgres.js';
import { replyDroppingProxy } from '../../../../test/support/proxies.js';

const CRON = 'nightly-report';
const ADA = { by: 'ada', reason: 'migration' };

let postgres: TestPostgres;
let sandbox: PostgresLedgerSandbox;
beforeAll(async () => {
  postgres = await postgresForTests();
});
beforeEach(async () => {
  sandbox = await postgresLedgerSandbox(postgres.url);
});
afterEach(() => sandbox.close());

/** As if the client's pool did it: what was asked and what was refused, also where the ledger recovers from it. */
function watched(pool: Pool): { pool: Pool; asked: QueryConfig[]; failures: unknown[] } {
  const asked: QueryConfig[] = [];
  const failures: unknown[] = [];
  const query = async (one: QueryConfig) => {
    asked.push(one);
    try {
      return await pool.query(one);
    } catch (error) {
      failures.push(error);
      throw error;
    }
  };
  return { pool: Object.assign(Object.create(pool) as Pool, { query }), asked, failures };
}

async function claimsOf(crons: readonly string[]): Promise<ClaimRequest[]> {
  const stage = await stageIn(sandbox);
  const base = await stage.request(1);
  return crons.map((cron) => ({ ...base, cron }));
}

describe('a step of the scheduler whose reply got lost', () => {
  it('is taken once, and answered as it was when it is sent again', async () => {
    const proxy = await replyDroppingProxy(postgres.url);
    const far = sandbox.another({ connectionString: postgres.url.replace(/@[^/]+/, `@${new URL(proxy.url).host}`) });
    const stage = await stageIn(sandbox, { pool: far });
    const { ledger } = stage;
    const twice = async <T>(call: () => Promise<T>): Promise<T> => {
      await ledger.readCron(CRON);
      proxy.dropNextReply();
      await expect(call()).rejects.toBeInstanceOf(Error);
      return call();
    };
    const claim = await stage.request(1);
    expect(await twice(() => ledger.claim(claim))).toEqual({ verdict: 'claimed', runId: stage.idOf(1) });
    const skip = await stage.request(2, { overlap: 'skip' });
    expect(await twice(() => ledger.claim(skip))).toEqual({ verdict: 'skipped', reason: 'overlap' });
    const ranges = await stage.request(3, { skips: [stage.range(2, 4)], occurrence: null });
    expect(await twice(() => ledger.claim(ranges))).toEqual({ verdict: 'recorded' });
    await twice(() => ledger.confirm([stage.idOf(1)]));
    const order = stage.order();
    expect(await twice(() => ledger.trigger(order))).toEqual({ verdict: 'claimed', runId: order.runId });
    const last = { runId: stage.idOf(1), delivery: 1 };
    expect(await twice(() => ledger.redeliver(last, 'a'))).toEqual({ ...last, delivery: 2 });

    expect(await stage.run(stage.idOf(1))).toMatchObject({ state: 'enqueued', delivery: 2 });
    expect(await ledger.runs(CRON, 10)).toHaveLength(3);
    expect(await ledger.skips(CRON, 10)).toHaveLength(1);
    expect(await stage.refusals()).toBe(0);
    expect(proxy.dropped).toBe(6);
    await proxy.close();
  });

  it('rejects every claim of a call that never arrived, and none of it is there', async () => {
    const gone = sandbox.another({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
    const ledger = sandbox.ledger({ ...SPACE, pool: gone });
    const settled = await ledger.claimAll(await claimsOf(['a', 'b']));
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await sandbox.ledger(SPACE).readCron('a')).toMatchObject({ cursor: null });
  });

  lateDuplicateContract(async () => {
    const { pool, asked } = watched(sandbox.pool);
    return {
      ...(await sandbox.harness()),
      ledger: sandbox.ledger({ pool }),
      resendable: async (send) => {
        await send();
        const last = asked.at(-1)!;
        return async () => (await sandbox.pool.query(last)).rows[0].reply;
      },
    };
  });
});

describe('claimAll', () => {
  it('asks for a hundred and fifty crons in one statement', async () => {
    const claims = await claimsOf(Array.from({ length: 150 }, (_, n) => `cron-${n}`));
    const { pool, asked } = watched(sandbox.pool);
    const ledger = sandbox.ledger({ ...SPACE, pool });
    await ledger.readCron(CRON);
    asked.length = 0;
    expect((await ledger.claimAll(claims)).every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it('rejects the claim that the server refuses, and claims the others', async () => {
    await sandbox.rows(`alter table @run add constraint no_bad_ones check (cron <> 'bad')`);
    const settled = await sandbox.ledger(SPACE).claimAll(await claimsOf(['a', 'bad', 'b']));
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(settled[1]).toHaveProperty('reason.code', '23514');
    const cursors = (await sandbox.ledger(SPACE).readCrons(['a', 'bad', 'b'])).map(({ cursor }) => cursor !== null);
    expect(cursors).toEqual([true, false, true]);
  });

  it('finds one of fifty schedulers on twenty connections to win', async () => {
    const stage = await stageIn(sandbox);
    const base = await stage.request(1);
    const claims = Array.from({ length: 50 }, (_, n) => ({
      ...base,
      fence: fence(n + 1),
      nonce: `${n}`,
      term: `${n}`,
    }));
    const replies = await Promise.all(claims.map((claim) => stage.ledger.claim(claim)));
    expect(replies.filter(({ verdict }) => verdict === 'claimed')).toHaveLength(1);
    expect(await stage.ledger.runs(CRON, 10)).toHaveLength(1);
  });
});

describe('forgetAll', () => {
  /** Crons with one finished run each. */
  async function ended(crons: readonly string[]): Promise<readonly string[]> {
    const stage = await stageIn(sandbox);
    for (const cron of crons) {
      const { runId } = stage.order({ runId: `${cron}@manual-1` });
      await stage.ledger.trigger(stage.order({ runId }));
      await stage.ledger.cancel(runId, { by: 'ada', graceMs: 1 });
    }
    return crons;
  }

  it('asks for a hundred and fifty crons in one statement, and forgets those of its own tenant', async () => {
    const crons = await ended(Array.from({ length: 150 }, (_, n) => `cron-${n}`));
    const { pool, asked } = watched(sandbox.pool);
    const other = sandbox.ledger({ ...SPACE, tenant: 'another', pool });
    expect(await other.forgetAll(crons, 0)).toEqual(crons.map(() => ({ status: 'fulfilled', value: 0 })));
    const ledger = sandbox.ledger({ ...SPACE, pool });
    await ledger.readCron(CRON);
    asked.length = 0;
    expect(await ledger.forgetAll(crons, 0)).toEqual(crons.map(() => ({ status: 'fulfilled', value: 1 })));
    expect(asked).toHaveLength(1);
  });

  it('forgets the runs of the crons beside one that the server refuses', async () => {
    const crons = await ended(['a', 'bad', 'b']);
    await sandbox.rows(`alter table @cron add constraint keeps_all check (name <> 'bad' or forgotten is null)`);
    const ledger = sandbox.ledger(SPACE);
    const settled = await ledger.forgetAll(crons, 0);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await ledger.newestRuns(crons, 5)).map((runs) => runs.length)).toEqual([0, 1, 0]);
  });
});

describe('calls about many crons', () => {
  const CRONS = 'hcajedbigf'.split('');

  it.each(['claimAll', 'confirm', 'overdueAll', 'forgetAll'] as const)(
    'lock them in the order of their names (%s)',
    async (call) => {
      const stage = await stageIn(sandbox, { timing: { recoverMs: 1 } });
      const { ledger } = stage;
      const base = await stage.request(1);
      await ledger.claimAll(CRONS.map((cron) => ({ ...base, cron })));
      await stage.harness.advance(2);
      const next = { occurrence: stage.occurrence(2), cursor: stage.instant(1), nonce: 'next' };
      const held = await sandbox.transaction(`select from "${sandbox.schema}".cron where name = 'e' for update`);
      const asked: Promise<unknown> = {
        claimAll: () => ledger.claimAll(CRONS.map((cron) => ({ ...base, ...next, cron }))),
        confirm: () => ledger.confirm(CRONS.map((cron) => `${cron}@${stage.instant(1)}`)),
        overdueAll: () => ledger.overdueAll(CRONS, { againMs: LONG_MS, keep: 10 }),
        forgetAll: () => ledger.forgetAll(CRONS, 10),
      }[call]();
      await sandbox.untilBlocked(1);
      const free = await sandbox.rows('select name from @cron order by name for update skip locked');
      await held.commit();
      await asked;
      expect(free).toEqual('fghij'.split('').map((name) => ({ name })));
    },
  );

  it('hold up nobody where nothing is due', async () => {
    const stage = await stageIn(sandbox);
    await stage.claimed(1);
    const held = await sandbox.transaction(`select from "${sandbox.schema}".cron for update`);
    expect(await stage.overdue(LONG_MS)).toEqual({ runs: [], watched: 1, surplus: false, notifications: 0 });
    await held.commit();
  });
});

describe('the time of a step', () => {
  it.each(['pause', 'trigger', 'claim', 'confirm'])(
    'is when the cron was free, not when it was asked for (%s)',
    async (call) => {
      const stage = await stageIn(sandbox);
      const { ledger } = stage;
      const runId = await stage.claimed(1);
      const order = stage.order({ overlap: 'queue-all' });
      const request = await stage.request(2);
      const held = await sandbox.transaction(`select from "${sandbox.schema}".cron for update`);
      const steps = {
        pause: async () => (await ledger.pause(CRON, { ...ADA, until: null })).since,
        trigger: async () => ledger.trigger(order).then(async () => (await stage.run(order.runId)).claimedAt),
        claim: async () => ledger.claim(request).then(async () => (await stage.run(stage.idOf(2))).claimedAt),
        confirm: async () => ledger.confirm([runId]).then(async () => (await stage.run(runId)).enqueuedAt),
      };
      const asked = steps[call as keyof typeof steps]();
      await sandbox.untilBlocked(1);
      await stage.harness.advance(3);
      const waitedUntil = await sandbox.now();
      await held.commit();
      expect(await asked).toBeGreaterThanOrEqual(waitedUntil);
    },
  );
});
