import { describe, expect, it } from 'vitest';
import { freshPrefix, testRedis } from '../support/redis.js';
import { usePods } from '../support/pods.js';

const pods = usePods();

describe('a pod with a shutdown hook that never resolves', () => {
  it('ends within its drain deadline and the time for closing, and says that it did not stop', async () => {
    const env = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: freshPrefix(), FENCEPOST_DRAIN_DEADLINE: '100ms' };
    const pod = await pods.worker('never-stops', { env: { ...env, CRONS: 'never-stops' } });
    expect(await pod.terminate()).toMatchObject({ code: 1, signal: null });
    expect(pod.stderr).toMatch(/^The test worker did not stop within 5\.1 s, .* open: \d+ \w+/m);
  });
});
