import { describe, expect, it, onTestFinished } from 'vitest';
import { monitorOf } from '../../../../test/support/monitor.js';
import { testRedis } from '../../../../test/support/redis.js';
import { FORMER_QUEUE } from '../queue/routing.js';
import { queuePrefix } from '../queue/run-queues.js';
import { enqueue, gate, jobOf, jobState, useWorkers } from './run-processor.stage.js';

const worker = useWorkers();

describe('the processor', () => {
  it('carries a run out and completes its job: the ledger first', async () => {
    const states: unknown[] = [];
    const set = await worker(() => {});
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId)).toBe('completed');
    states.push((await set.ledger.readRun(runId))?.state);
    expect(states).toEqual(['succeeded']);
    expect(set.events.names.filter((name) => name.startsWith('attempt'))).toEqual([
      'attempt.begun',
      'attempt.succeeded',
    ]);
  });

  it('tries a run again with the same job, delayed, and writes a line for each attempt', async () => {
    const set = await worker(({ attempt, log }) => {
      if (attempt === 1) throw new Error('not yet');
      log.info('done');
    });
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId), { interval: 5 }).toBe('delayed');
    await expect.poll(() => jobState(set, runId)).toBe('completed');
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'succeeded', attempt: 2, delivery: 1 });
    const { logs } = await set.runs.queues.named(FORMER_QUEUE).getJobLogs(runId);
    const line = (level: string, attempt: number, message: string) =>
      new RegExp(
        String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ${level} \[attempt ${attempt} · fence \d{16}\] ${message}`,
      );
    expect(logs).toEqual([
      expect.stringMatching(line('error', 1, 'Error: not yet; next attempt in 200 ms\\n +at ')),
      expect.stringMatching(line('info', 2, 'done$')),
    ]);
  });

  it('fails the job with the error of the last attempt', async () => {
    const set = await worker(() => Promise.reject(new TypeError('broken')), {
      retry: { attempts: 1, delayMs: 0, maxDelayMs: 0 },
    });
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId)).toBe('failed');
    expect((await jobOf(set, runId)).failedReason).toBe('broken');
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'failed', error: 'TypeError: broken' });
  });

  it('puts a run of a cron it does not know back for another worker', async () => {
    const set = await worker(() => {});
    const runId = await enqueue(set, 0, { cron: 'other' });
    await expect.poll(() => jobState(set, runId)).toBe('delayed');
    expect(set.events.of('attempt.unhandled')).toEqual([{ cron: 'other', runId }]);
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'enqueued', waiting: 'no-capable-worker' });
  });

  it('shows the progress of a run with its job', async () => {
    const set = await worker(async ({ progress }) => {
      await progress({ rows: 7 });
    });
    const runId = await enqueue(set);
    await expect.poll(() => jobState(set, runId)).toBe('completed');
    expect((await jobOf(set, runId)).progress).toEqual({ rows: 7 });
  });
});

describe('a processor that waits for jobs', () => {
  it('waits long while its process is alone, and briefly again at once when another has come', async () => {
    const set = await worker(() => {});
    const marker = `${queuePrefix(set.space)}:${FORMER_QUEUE}:marker`;
    const waits: string[] = [];
    const end = await monitorOf(testRedis(), (words) => {
      if (words[0]?.toLowerCase() === 'bzpopmin' && words[1] === marker) waits.push(words.at(-1) ?? '');
    });
    onTestFinished(end);
    await expect.poll(() => waits).toContain('1');
    set.processor.waitLong(true);
    await expect.poll(() => waits).toContain('10');
    waits.length = 0;
    set.processor.waitLong(false);
    await expect.poll(() => waits).toEqual(['1']);
  });
});

describe('a processor that stops', () => {
  it('waits for the runs under way and takes no further one', async () => {
    const { passed, open } = gate();
    const set = await worker(() => passed);
    const first = await enqueue(set, 0);
    await expect.poll(() => set.events.of('attempt.begun')).toHaveLength(1);
    const stopped = set.stop();
    const second = await enqueue(set, 1);
    open();
    await stopped;
    expect(await jobState(set, first)).toBe('completed');
    expect((await set.ledger.readRun(second))?.attempt).toBe(0);
    expect(['waiting', 'delayed']).toContain(await jobState(set, second));
    expect(set.events.of('attempt.aborted')).toEqual([]);
  });

  it('aborts at the deadline, and a handler that listens leaves its run to another worker', async () => {
    let reason: unknown;
    const set = await worker(({ signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
      });
    });
    const runId = await enqueue(set);
    await expect.poll(() => set.events.of('attempt.begun')).toHaveLength(1);
    await set.stop(100);
    expect(reason).toMatchObject({ code: 'SHUTDOWN' });
    expect(await set.ledger.readRun(runId)).toMatchObject({ state: 'enqueued', attempt: 1 });
    expect(await jobState(set, runId)).toBe('delayed');
  });
});
