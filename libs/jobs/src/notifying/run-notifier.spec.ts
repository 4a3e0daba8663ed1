import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryLedger } from '@fencepost/ledger/memory';
import type { AttemptOutcome } from '@fencepost/ledger';
import { recordedEvents, type RecordedEvents } from '../../../../test/support/recorded.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { pingOf, pingMessages, type Message } from './messages.js';
import { notifyOf, RunNotifier } from './run-notifier.js';

const ping = { success: 'https://hc.example/ok', failure: 'https://hc.example/no' };
const webhook = { url: 'https://alerts.example', secret: '', events: ['run.failed', 'run.uncertain'] as const };
const QUESTION = { effect: 'charge', item: null, unknownReason: 'lost', since: 0 } as const;

describe('what a run asks to be notified of', () => {
  it('is nothing where nobody wants to hear', () => {
    expect(notifyOf([], 'report', undefined)).toBe('');
    expect(notifyOf([{ ...webhook, crons: ['another'] }], 'report', {})).toBe('');
    expect(notifyOf([{ ...webhook, events: ['alarm.raised'] }], 'report', undefined)).toBe('');
  });

  it('is each state that a webhook or an address of the cron wants', () => {
    expect(notifyOf([webhook], 'report', undefined)).toBe('failed,uncertain');
    expect(notifyOf([{ ...webhook, crons: ['report'] }], 'report', ping)).toBe(
      'ping:succeeded,failed,ping:failed,uncertain',
    );
  });

  it('is every address while the catalog has not been read', () => {
    expect(notifyOf([], 'report', null)).toBe('ping:succeeded,ping:failed,ping:uncertain');
  });
});

describe('a run notifier', () => {
  let [clock, telemetry, ledger] = [new ManualClock(0), new Telemetry(), new MemoryLedger(new ManualClock(0))];
  let [sent, events]: [Message[], RecordedEvents] = [[], recordedEvents(telemetry)];
  let enqueue: (messages: readonly Message[]) => Promise<void>;
  let notifier: RunNotifier;
  beforeEach(() => {
    [clock, telemetry, sent] = [new ManualClock(1_000), new Telemetry(), []];
    [ledger, events] = [new MemoryLedger(clock), recordedEvents(telemetry)];
    enqueue = (messages) => Promise.resolve(void sent.push(...messages));
    const queue = { enqueue: (messages: readonly Message[]) => enqueue(messages) };
    notifier = new RunNotifier({ ledger, queue, telemetry, webhooks: [webhook] });
  });
  afterEach(() => notifier.stop());

  let runs = 0;
  async function ended(outcome: AttemptOutcome, notify = 'failed,ping:failed,uncertain,ping:uncertain') {
    const [runId, nonce] = [`report@manual-${(runs += 1)}`, `n${runs}`];
    const trigger = {
      scheduledAt: null,
      reason: 'manual',
      generation: 1,
      by: 'ada',
      payload: null,
    } as const;
    await ledger.trigger({ runId, nonce, ...trigger, handler: null, missed: null, overlap: 'allow' });
    const begun = await ledger.begin({ runId, nonce, worker: 'w', ttlMs: 1_000, maxAttempts: 1, notify });
    if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin.`);
    await ledger.finish({ runId, nonce, fence: begun.fence }, outcome);
    return { cron: 'report', runId, attempt: 1, fence: begun.fence };
  }
  const failed = () => ended({ kind: 'failed', error: 'Error: token=kAnary' });
  const drained = async () => {
    notifier.drain('report');
    await notifier.stop();
  };
  const about = () => sent.map((message) => (message.kind === 'ping' ? message.on : message.type));

  it('hands on what waits, once, and holds no address and no secret', async () => {
    await failed();
    await drained();
    await drained();
    expect(about()).toEqual(['run.failed', 'failure']);
    expect(JSON.stringify(sent)).not.toMatch(/hc\.example|alerts\.example|kAnary/);
    expect(await ledger.notifications('report', 10)).toEqual([]);
  });

  it('hands on again, under the same ids, what the queue did not take', async () => {
    await failed();
    const tried: Message[] = [];
    const works = enqueue;
    enqueue = (messages) => (tried.push(...messages), Promise.reject(new Error('Connection is closed.')));
    await drained();
    expect(events.of('queue.failed')).toMatchObject([{ operation: 'notification.enqueue', cron: 'report' }]);
    expect(await ledger.notifications('report', 10)).toHaveLength(1);
    enqueue = works;
    await drained();
    expect(sent).toEqual(tried);
  });

  it('hands on hundreds, and what comes while it does', async () => {
    for (let n = 0; n < 250; n += 1) await failed();
    const works = enqueue;
    enqueue = async (messages) => {
      await works(messages);
      if (sent.length < 300) return;
      enqueue = works;
      await failed();
      notifier.drain('report');
    };
    await drained();
    expect(sent).toHaveLength(502);
  });

  it('settles what nobody wants any more', async () => {
    await ended({ kind: 'succeeded' }, 'succeeded');
    await drained();
    expect(sent).toEqual([]);
    expect(await ledger.notifications('report', 10)).toEqual([]);
  });

  it('looks when a run of its worker ends as somebody wants to hear, and not at a retry', async () => {
    const run = { cron: 'report', runId: 'report@1', attempt: 1, fence: parseFence('7') };
    const asked: string[] = [];
    notifier.drain = (cron) => void asked.push(cron);
    notifier.start((cron) => (cron === 'report' ? 'failed,ping:succeeded' : ''));
    telemetry.emit('attempt.failed', { ...run, err: new Error('x'), state: 'enqueued', retryInMs: 1, tookMs: 5 });
    telemetry.emit('attempt.uncertain', { ...run, effect: 'charge', item: null, unknownReason: 'lost' });
    telemetry.emit('attempt.succeeded', { ...run, cron: 'another', tookMs: 1 });
    telemetry.emit('attempt.needless', { cron: 'report', runId: 'report@1', state: 'missing' });
    expect(asked).toEqual([]);
    telemetry.emit('attempt.failed', { ...run, err: new Error('x'), state: 'failed', retryInMs: null, tookMs: 5 });
    telemetry.emit('attempt.succeeded', { ...run, tookMs: 1 });
    telemetry.emit('attempt.needless', { cron: 'report', runId: 'report@1', state: 'failed' });
    expect(asked).toEqual(['report', 'report', 'report']);
  });

  it.each([
    ['failed', 'failure', { kind: 'failed', error: 'x' }],
    ['uncertain', 'uncertain', { kind: 'uncertain', error: 'x', unresolvedEffect: QUESTION }],
  ] as const)(
    'calls the address for %s under the id that an alarm about the same run has',
    async (kind, on, outcome) => {
      const { runId } = await ended(outcome);
      await drained();
      const alarm = { kind, since: 0, text: '', runId, attempt: 1, cron: 'report', news: 'raised', id: 'a' } as const;
      const wanted = pingOf(alarm);
      expect(wanted?.on).toBe(on);
      const [same] = pingMessages({ [on]: 'https://hc.example' }, on, { cron: 'report', id: wanted?.id ?? '' });
      expect(sent).toContainEqual(same);
      expect(pingOf({ ...alarm, news: 'cleared' })).toBeNull();
      expect(pingOf({ ...alarm, kind: 'missed', runId: null })).toEqual({ on: 'missed', id: 'a' });
    },
  );

  it('has another id when the run is uncertain again', async () => {
    const { runId } = await ended({ kind: 'uncertain', error: 'x', unresolvedEffect: QUESTION });
    await drained();
    const unresolvedEffect = { attempt: 1, effect: 'charge', item: null, since: 0 };
    await ledger.resolve(runId, {
      nonce: 'r',
      by: 'ada',
      reason: 'x',
      answer: { verdict: 'not-done' },
      unresolvedEffect,
    });
    const begun = await ledger.begin({ runId, nonce: 'again', worker: 'w', ttlMs: 1_000, maxAttempts: 1 });
    if (begun.verdict !== 'begun') throw new Error('Expected it to begin.');
    const outcome = { kind: 'uncertain', error: 'x', unresolvedEffect: QUESTION } as const;
    await ledger.finish({ runId, nonce: 'again', fence: begun.fence }, outcome);
    await drained();
    expect(about()).toEqual(['run.uncertain', 'uncertain', 'run.uncertain', 'uncertain']);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(4);
  });
});
