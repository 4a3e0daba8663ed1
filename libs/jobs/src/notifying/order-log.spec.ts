import { beforeEach, describe, expect, it } from 'vitest';
import { RunOperator } from '@fencepost/operations';
import { CRON } from '../../../../test/support/audit-history.js';
import { flaky } from '../../../../test/support/flaky.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { OrderLog } from './order-log.js';

const order = { by: 'ada', reason: 'the customer left' };

describe('orders that end runs', () => {
  let stage: OperatingStage;
  let runs: RunOperator;
  beforeEach(async () => {
    stage = new OperatingStage();
    await stage.declare({});
    const { catalog, ledger, queue, membership, audit } = stage;
    runs = new RunOperator({ catalog, ledger, queue, membership, audit });
  });

  /** A scheduler pod that reads the trail, and what it has reported. */
  async function pod(over: Partial<ConstructorParameters<typeof OrderLog>[0]> = {}) {
    const { audit: trail, ledger, clock } = stage;
    const telemetry = new Telemetry();
    const log = new OrderLog({ trail, ledger, clock, telemetry, lookEveryMs: 1_000, ...over });
    await log.start();
    return { log, events: recordedEvents(telemetry) };
  }

  async function claimed(second: number): Promise<string> {
    stage.clock.jumpWall(stage.at(second) - stage.clock.now());
    await stage.claim(second, { overlap: 'allow' });
    return stage.idOf(second);
  }

  async function uncertain(second: number): Promise<string> {
    const [runId, nonce] = [await claimed(second), `attempt ${second}`];
    const begun = await stage.ledger.begin({ runId, nonce, worker: 'w/1', ttlMs: 60_000, maxAttempts: 1 });
    if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
    const unresolvedEffect = { effect: 'card', item: null, unknownReason: 'timeout', since: 7 } as const;
    const attempt = { runId, nonce, fence: begun.fence };
    await stage.ledger.finish(attempt, { kind: 'uncertain', error: 'nobody knows', unresolvedEffect });
    return runId;
  }

  const answered = (runId: string, answer: 'give-up' | 'not-done') =>
    runs.resolve(runId, { ...order, answer, attempt: 1, effect: 'card', item: null, since: 7 });

  it('are reported by one of two pods, with cron, instant, attempt, who and why', async () => {
    const [one, other] = [await pod(), await pod()];
    const runId = await uncertain(1);
    await answered(runId, 'give-up');
    await one.log.look();
    await other.log.look();
    expect(one.events.of('run.given-up')).toEqual([
      { cron: CRON, runId, scheduledAt: stage.at(1), attempt: 1, ...order },
    ]);
    expect(other.events.names).toEqual([]);
  });

  it('are not looked at by a pod that was stopped before it started', async () => {
    const taken: string[] = [];
    const take = async (nonce: string) => (taken.push(nonce), []);
    const { ledger, clock } = stage;
    const log = new OrderLog({ trail: { take }, ledger, clock, telemetry: new Telemetry(), lookEveryMs: 1_000 });
    await log.stop();
    await log.start();
    await clock.advance(5_000);
    expect(taken).toEqual([]);
  });

  it('are reported at the next look, whoever gave them', async () => {
    const { events } = await pod();
    const runId = await claimed(1);
    await stage.operator.cancel(runId, order);
    expect(events.names).toEqual([]);
    await stage.clock.advance(1_000);
    const about = { cron: CRON, runId, scheduledAt: stage.at(1), attempt: 0, ...order };
    expect(events.of('run.cancelled')).toEqual([{ ...about, verdict: 'cancelled' }]);
  });

  it('say whether a worker still executes the run', async () => {
    const { log, events } = await pod();
    const runId = await claimed(1);
    await stage.ledger.begin({ runId, nonce: 'n', worker: 'w/1', ttlMs: 60_000, maxAttempts: 1 });
    await stage.operator.cancel(runId, order);
    await log.look();
    expect(events.of('run.cancelled')).toMatchObject([{ runId, attempt: 1, verdict: 'cancelling' }]);
  });

  it('leave out answers after which the run goes on, and orders about something else', async () => {
    const { log, events } = await pod();
    await answered(await uncertain(1), 'not-done');
    await stage.operator.pause(CRON, order);
    await stage.operator.trigger(CRON, order);
    await log.look();
    expect(events.names).toEqual([]);
  });

  it('are reported after a look whose reply got lost', async () => {
    const trail = flaky(stage.audit);
    const { log, events } = await pod({ trail: trail.port });
    await answered(await uncertain(1), 'give-up');
    trail.next('take', 'lose-reply');
    await log.look();
    expect(events.names).toEqual(['store.failed']);
    await log.look();
    expect(events.of('run.given-up')).toHaveLength(1);
  });

  it('are reported where the reply to the order itself got lost, if they took effect', async () => {
    const { log, events } = await pod();
    const [lost, refused] = [await uncertain(1), await uncertain(2)];
    const ledger = flaky(stage.ledger);
    const { catalog, queue, membership, audit } = stage;
    runs = new RunOperator({ catalog, ledger: ledger.port, queue, membership, audit });
    ledger.next('resolve', 'lose-reply');
    await expect(answered(lost, 'give-up')).rejects.toThrow('the reply of resolve got lost');
    ledger.next('resolve', 'fail');
    await expect(answered(refused, 'give-up')).rejects.toThrow('resolve did not get through');
    await log.look();
    expect(events.of('run.given-up')).toMatchObject([{ runId: lost }]);
  });
});
