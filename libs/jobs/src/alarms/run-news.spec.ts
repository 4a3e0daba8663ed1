import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { recordedEvents } from '../../../../test/support/recorded-events.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { Message } from './alarm-queue.js';
import { pingMessages, pingOf } from './messages.js';
import { RunNews } from './run-news.js';

const ping = { success: 'https://hc.example/ok', failure: 'https://hc.example/no' };
const run = { cron: 'report', runId: 'report@1', attempt: 2, fence: parseFence('7') };
const failed = { ...run, error: 'Error: no', state: 'failed', retryInMs: null } as const;

function telling(enqueue: (messages: readonly Message[]) => Promise<void>) {
  const telemetry = new Telemetry();
  const events = recordedEvents(telemetry);
  const webhook = { url: 'https://alerts.example', secret: '', events: ['run.failed'] as const, crons: ['report'] };
  const news = new RunNews({
    ...{ telemetry, clock: new ManualClock(0), webhooks: [webhook] },
    queue: { enqueue },
    pingOf: (cron) => (cron === 'report' ? ping : undefined),
  });
  news.start();
  return { telemetry, events, news };
}

function collecting() {
  const sent: Message[] = [];
  const stage = telling((messages) => Promise.resolve(void sent.push(...messages)));
  return { ...stage, told: () => sent.map((m) => (m.kind === 'ping' ? m.on : m.type)), sent };
}

describe('the news of a run', () => {
  it('is told when the run has failed for good, and not when it is tried again', async () => {
    const { telemetry, news, told } = collecting();
    telemetry.emit('attempt.failed', { ...failed, state: 'enqueued', retryInMs: 1_000 });
    expect(told()).toEqual([]);
    telemetry.emit('attempt.failed', failed);
    await news.stop();
    expect(told()).toEqual(['run.failed', 'failure']);
  });

  it('is told to those who asked for it alone', async () => {
    const { telemetry, news, told } = collecting();
    telemetry.emit('attempt.succeeded', { ...run, tookMs: 1 });
    telemetry.emit('attempt.failed', { ...failed, cron: 'another' });
    telemetry.emit('attempt.uncertain', { ...run, effect: 'charge', item: null, doubt: 'lost' });
    await news.stop();
    expect(told()).toEqual(['success']);
    telemetry.emit('attempt.failed', failed);
    expect(told()).toEqual(['success']);
  });

  it('holds no address and no secret', async () => {
    const { telemetry, news, sent } = collecting();
    telemetry.emit('attempt.failed', { ...failed, error: 'Error: token=kAnary' });
    await news.stop();
    expect(JSON.stringify(sent)).not.toMatch(/hc\.example|alerts\.example|kAnary/);
  });

  it('does not pile up over a queue that is away', async () => {
    let answer = () => {};
    const hung = new Promise<void>((resolve) => (answer = resolve));
    let asked = 0;
    const { telemetry, events, news } = telling(() => ((asked += 1), hung));
    for (let n = 0; n < 1_500; n += 1) telemetry.emit('attempt.failed', failed);
    expect(asked).toBe(1_000);
    expect(events.of('queue.trouble')).toHaveLength(500);
    answer();
    await news.stop();
  });

  it('that can not be queued is a trouble, and no failure of the run', async () => {
    const { telemetry, events, news } = telling(() => Promise.reject(new Error('away')));
    telemetry.emit('attempt.failed', failed);
    await news.stop();
    expect(events.of('queue.trouble')).toEqual([{ doing: 'telling of runs', error: 'Error: away' }]);
  });

  it('has the same id as that of an alarm about the same run: it is sent once', () => {
    const alarm = {
      kind: 'failed',
      since: 0,
      text: '',
      runId: run.runId,
      cron: run.cron,
      news: 'raised',
      id: 'a',
    } as const;
    const [mine] = pingMessages(ping, 'failure', { cron: run.cron, id: run.runId });
    expect(pingOf(alarm)).toEqual({ on: 'failure', id: run.runId });
    expect(pingMessages(ping, 'failure', { cron: run.cron, id: pingOf(alarm)?.id ?? '' })).toEqual([mine]);
    expect(pingOf({ ...alarm, news: 'cleared' })).toBeNull();
    expect(pingOf({ ...alarm, kind: 'missed', runId: null })).toEqual({ on: 'missed', id: 'a' });
  });
});
