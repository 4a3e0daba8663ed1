import { describe, expect, it } from 'vitest';
import { RedisPodRegistry } from '../../libs/operations/src/pods/redis-pod-registry.js';
import { card } from '../contracts/pod-registry.contract.js';
import { fencepost } from '../support/fencepost.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const UUID = '0d9f1f6e-3c55-4f7b-9d0a-0a4c6c6b9a11';

async function asked(cards: Parameters<RedisPodRegistry['report']>[0][], ...args: string[]) {
  const space = spaces.fresh();
  const registry = new RedisPodRegistry({ redis: spaces.redis(), ...space });
  for (const one of cards) await registry.report(one);
  const env = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: space.prefix, FENCEPOST_TENANT: space.tenant };
  return fencepost(['pods', ...args], { env, width: 200 });
}

describe('fencepost pods', () => {
  const scheduler = card(`s-1/${UUID}`, { clockSkewMs: -1_234.7, lagMs: 3.21 });
  const worker = card(`w-1/${UUID}`, {
    ...{ roles: ['worker'], buildSeq: 7, share: null, held: null, concurrency: 10, running: 2, handlers: ['nightly'] },
    ...{ clockSkewMs: 0.4 },
  });

  it('shows each pod in a line, and never the whole of its identity', async () => {
    const { code, out } = await asked([worker, scheduler]);
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(head).toMatch(/^POD +ROLES +VERSION +ZONES +BUILD +CLOCK +STORE +LAG +CRONS +RUNS +SINCE \(UTC\)$/);
    const cells = lines.map((line) => line.split(/ {2,}/));
    const rest = ['0.5 ms', '3.2 ms'];
    const since = '2023-11-14T22:13:20Z';
    expect(cells).toEqual([
      ['s-1/0d9f1f6e', 'scheduler', '0.1.0', '2025c', '-', '-1235 ms', ...rest, '3 of 4', '-', since],
      ['w-1/0d9f1f6e', 'worker', '0.1.0', '2025c', '7', '+0 ms', '0.5 ms', '3.0 ms', '-', '2 of 10', since],
    ]);
  });

  it('answers a program with all that a pod says of itself', async () => {
    const { code, out } = await asked([worker], '--json');
    expect(code).toBe(0);
    expect(out).not.toContain(UUID);
    const seenAt: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/);
    expect(JSON.parse(out)).toEqual([
      { ...worker, pod: 'w-1/0d9f1f6e', startedAt: '2023-11-14T22:13:20.000Z', seenAt },
    ]);
  });

  it('says that nobody is there', async () => {
    const { code, out } = await asked([]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^No pods under the prefix "test-/)]);
  });
});
