import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import { isLong } from '../support/run-length.js';

const WATCHED_MS = isLong ? 20_000 : 8_000;

describe('three schedulers and two workers', () => {
  // Long enough for a machine that is busy with other things, so that nobody loses a lease here.
  const deployment = useDeployment({ FENCEPOST_LEASE_TTL: '2s' });

  it(
    'give a cron that fires every second one run an instant, and leave no instant out',
    { timeout: 180_000 },
    async () => {
      const { pods, stores } = deployment;
      const withTick = { env: { CRONS: 'tick' } };
      const [, , ...schedulers] = await Promise.all([
        pods.worker('w1', withTick),
        pods.worker('w2', withTick),
        pods.scheduler('s1'),
        pods.scheduler('s2'),
        pods.scheduler('s3'),
      ]);
      await deployment.settled('tick');
      // The elapsed time itself is what this test is about.
      await wait(WATCHED_MS);
      await Promise.all(schedulers.map((pod) => pod.terminate()));
      await deployment.settled('tick');
      await pods.terminateAll();

      const runs = await deployment.runsOf('tick');
      expect(runs.length).toBeGreaterThanOrEqual(WATCHED_MS / 1_000);
      const first = runs[0]!.scheduledAt;
      expect(runs.map(({ scheduledAt }) => scheduledAt)).toEqual(runs.map((_, n) => first + n * 1_000));
      expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'succeeded'));
      expect((await deployment.written()).toSorted()).toEqual(runs.map(({ id }) => `${id}/write`));
      expect(await stores.sink.turnedDown()).toEqual({ stale: 0, repeated: 0 });
    },
  );
});
