import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isTransactional } from '@fencepost/ledger';
import { stageIn } from './postgres.stage.js';
import { LONG_MS } from './stage.js';
import {
  postgresLedgerSandbox,
  SPACE,
  type PostgresLedgerSandbox,
} from '../../../../test/support/postgres-ledger-sandbox.js';
import { postgresForTests, type TestPostgres } from '../../../../test/support/postgres.js';

const CRON = 'nightly-report';

let postgres: TestPostgres;
let sandbox: PostgresLedgerSandbox;
beforeAll(async () => {
  postgres = await postgresForTests();
});
beforeEach(async () => {
  sandbox = await postgresLedgerSandbox(postgres.url);
});
afterEach(() => sandbox.close());

describe('a run that is asked for within a transaction', () => {
  it('is there if and only if that commits, and is announced then', async () => {
    const stage = await stageIn(sandbox);
    const ledger = sandbox.ledger(SPACE);
    expect(isTransactional(ledger)).toBe(true);
    const heard: string[] = [];
    const stop = await ledger.watchTriggered((runId) => heard.push(runId));
    const [lost, kept] = [stage.order(), stage.order({ payload: '{"a":1}' })];
    const tx = await sandbox.open();
    expect(await ledger.triggerIn(tx, lost)).toEqual({ verdict: 'claimed', runId: lost.runId });
    await tx.query('rollback');
    await tx.query('begin');
    expect(await ledger.triggerIn(tx, kept)).toEqual({ verdict: 'claimed', runId: kept.runId });
    expect(await ledger.readRun(kept.runId)).toBeNull();
    await tx.query('commit');
    await expect.poll(() => heard).toEqual([kept.runId]);
    expect(await stage.run(kept.runId)).toMatchObject({ state: 'claimed', payload: '{"a":1}' });
    expect(await ledger.readRun(lost.runId)).toBeNull();
    await ledger.trigger(stage.order());
    await ledger.triggerIn(sandbox.pool, kept);
    await ledger.triggerIn(sandbox.pool, { ...kept, runId: `${CRON}@manual-last`, nonce: 'last' });
    // Neither one that is asked for at once, nor one that is asked for again.
    await expect.poll(() => heard).toEqual([kept.runId, `${CRON}@manual-last`]);
    await stop();
  });

  it('holds up no worker and no scheduler of its cron, however long that goes on', async () => {
    const stage = await stageIn(sandbox);
    const ledger = sandbox.ledger(SPACE);
    const attempt = await stage.begun(await stage.claimed(1));
    const tx = await sandbox.open();
    const order = stage.order();
    await ledger.triggerIn(tx, order);
    expect(await ledger.heartbeat(attempt, LONG_MS)).toBe('extended');
    await stage.claimed(2);
    const other = stage.order();
    expect(await ledger.trigger(other)).toEqual({ verdict: 'claimed', runId: other.runId });
    await tx.query('commit');
    expect(await ledger.trigger(order)).toEqual({ verdict: 'claimed', runId: order.runId });
    expect(await ledger.runs(CRON, 10)).toHaveLength(4);
  });

  it('is heard of by its own deployment and tenant alone', async () => {
    const stage = await stageIn(sandbox);
    const [heard, others]: [string[], string[]] = [[], []];
    const ledger = sandbox.ledger(SPACE);
    const stops = await Promise.all([
      ledger.watchTriggered((runId) => heard.push(runId)),
      sandbox.ledger({ ...SPACE, tenant: 'another' }).watchTriggered((runId) => others.push(runId)),
    ]);
    const [own, other] = [stage.order(), stage.order()];
    await sandbox.ledger({ ...SPACE, tenant: 'another' }).triggerIn(sandbox.pool, other);
    await ledger.triggerIn(sandbox.pool, own);
    await expect.poll(() => [heard, others]).toEqual([[own.runId], [other.runId]]);
    for (const stop of stops) await stop();
  });

  it('makes its cron one that waits, until the run is confirmed', async () => {
    const stage = await stageIn(sandbox, { timing: { recoverMs: 1 } });
    const ledger = sandbox.ledger({ ...SPACE, timing: { recoverMs: 1 } });
    const order = stage.order();
    await ledger.triggerIn(sandbox.pool, order);
    await ledger.triggerIn(
      sandbox.pool,
      stage.order({ runId: 'later@manual-1', notBefore: (await sandbox.now()) + LONG_MS }),
    );
    await stage.harness.advance(2);
    expect(await ledger.waitingCrons(10)).toEqual([CRON]);
    expect(await ledger.waitingCrons(0)).toEqual([]);
    expect(await sandbox.ledger({ ...SPACE, tenant: 'another' }).waitingCrons(10)).toEqual([]);
    await ledger.confirm([order.runId]);
    expect(await ledger.waitingCrons(10)).toEqual([]);
  });
});

describe('what is kept', () => {
  const EVERYTHING = `select (select count(*)::int from @run) + (select count(*)::int from @effect)
    + (select count(*)::int from @effect_begun) + (select count(*)::int from @item) as n`;

  it('is less by the runs that ended long enough ago, with all of their effects', async () => {
    const stage = await stageIn(sandbox, { timing: { keepMs: 20 } });
    const { ledger } = stage;
    const attempt = await stage.begun(await stage.claimed(1));
    await ledger.beginEffect(attempt, { name: 'mail', ifUnknown: 'go' });
    await ledger.advanceItems(attempt, 'all', { finished: [], begun: ['a'] });
    await ledger.finish(attempt, { kind: 'succeeded' });
    const doubtful = await stage.begun(await stage.claimed(2));
    const unresolvedEffect = { effect: 'mail', item: null, unknownReason: 'lost', since: 1 } as const;
    await ledger.finish(doubtful, { kind: 'uncertain', error: 'lost', unresolvedEffect });
    await stage.harness.advance(30);
    expect(await stage.overdue(1)).toMatchObject({ surplus: true });
    expect(await ledger.account(CRON, 0, stage.instant(9))).toMatchObject({ forgotten: stage.instant(1) });
    expect(await stage.forget(10)).toBe(1);
    expect(await sandbox.rows(EVERYTHING)).toEqual([{ n: 1 }]);
    expect(await ledger.runs(CRON, 10)).toMatchObject([{ state: 'uncertain', unresolvedEffect }]);
    expect(await ledger.account(CRON, 0, stage.instant(9))).toMatchObject({ forgotten: stage.instant(1) });
    expect(await stage.overdue(1)).toMatchObject({ surplus: false });
  });
});

describe('a text that PostgreSQL can not hold', () => {
  it('is kept but for the character that it is about', async () => {
    const stage = await stageIn(sandbox);
    const order = stage.order({ by: 'a\0da', payload: JSON.stringify('\0\u{D800}') });
    await stage.ledger.trigger(order);
    expect(await stage.run(order.runId)).toMatchObject({ by: 'a\u{FFFD}da', payload: order.payload });
    await stage.ledger.pause(CRON, { by: 'x\0', reason: '\u{DFFF}', until: null });
    expect(await stage.ledger.readCron(CRON)).toMatchObject({ paused: { by: 'x\u{FFFD}', reason: '\u{FFFD}' } });
  });
});

describe('tenants and deployments', () => {
  it('are kept apart that have a cron of the same name', async () => {
    const stage = await stageIn(sandbox);
    await stage.claimed(1);
    for (const other of [
      { ...SPACE, tenant: 'another' },
      { ...SPACE, prefix: 'another' },
    ]) {
      const ledger = sandbox.ledger(other);
      expect(await ledger.readRun(stage.idOf(1))).toBeNull();
      expect(await ledger.readCron(CRON)).toMatchObject({ cursor: null });
      expect(await ledger.pending(CRON)).toEqual([]);
      await ledger.confirm([stage.idOf(1)]);
    }
    expect(await stage.run(stage.idOf(1))).toMatchObject({ state: 'claimed' });
  });
});
