import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const OUTAGE_MS = 4_000;
const WARNING = 40;

/** Warnings and errors that one pod gave more than once: each operation may fail in several ways, but is to say each of them once. */
function saidAgain(lines: readonly Readonly<Record<string, unknown>>[]): string[] {
  const complaints = lines.filter(({ level }) => Number(level) >= WARNING);
  const texts = complaints.map(({ time: _, ...said }) => JSON.stringify(said));
  return texts.filter((text, at) => texts.indexOf(text) !== at);
}

describe('a Redis that goes away, and comes back without anything it knew', () => {
  let server: PrivateRedis;
  const deployment = useDeployment({ LOG_LEVEL: 'info' }, () => server.url);

  beforeAll(async () => {
    server = await privateRedis();
  });

  afterAll(() => server.stop());

  it(
    'leaves pods that say little, wait, and go on by themselves under larger fences',
    { timeout: 180_000 },
    async () => {
      const { pods, stores } = deployment;
      // So that the workers' definition is the second one: the catalog will count from the beginning again.
      await deployment.declareBefore('tick');
      const all = await Promise.all([
        pods.scheduler('s1'),
        pods.scheduler('s2'),
        pods.worker('w1', { env: { CRONS: 'tick' } }),
      ]);
      await deployment.settled('tick');
      const before = await stores.ledger.readCron('tick');
      const [last] = await stores.ledger.runs('tick', 1);

      await server.stop();
      // The elapsed time itself is the outage.
      await wait(OUTAGE_MS);
      expect(all.filter((pod) => !pod.isAlive)).toEqual([]);
      await server.restartEmpty();
      await until('the crons are declared again', async () => {
        // The test's own connection has to find the server again, too.
        return (await deployment.entryOf('tick').catch(() => undefined)) !== undefined;
      });
      expect(all.flatMap(({ lines }) => saidAgain(lines))).toEqual([]);

      const entry = await deployment.entryOf('tick');
      await until('three runs of the cron declared anew succeeded', async () => {
        const runs = await deployment.runsOf('tick');
        return runs.filter(({ state, scheduledAt }) => state === 'succeeded' && scheduledAt > entry!.since).length >= 3;
      });
      expect((await stores.ledger.readCron('tick')).fence).toBeGreaterThan(before.fence);
      const [first] = await deployment.runsOf('tick');
      expect(first!.claimFence).toBeGreaterThan(before.fence);
      expect(first!.fence).toBeGreaterThan(last!.fence!);
      await pods.terminateAll();
    },
  );
});
