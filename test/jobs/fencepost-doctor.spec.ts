import { roleOf, parseTokens } from '@fencepost/operations/access-tokens';
import { describe, expect, it } from 'vitest';
import { RedisPodRegistry } from '@fencepost/jobs/internal';
import { fencepost, declared, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';
import { card, podCard } from '../contracts/pod-registry.contract.js';
import { testRedis } from '../support/redis.js';

const spaces = redisSpaces();

interface DoctorFinding {
  readonly code: string;
  readonly level: string;
  readonly subject: string;
}

async function deployment() {
  const space = { redis: spaces.redis(), ...spaces.fresh() };
  const at = await FencepostDeployment.of(space, [declared('nightly')]);
  const registry = new RedisPodRegistry(space);
  // Read from the store, so that no time of this machine stands against its clock.
  const startedAt = (await at.catalog.read()).readAt;
  const cardOf = (name: string) =>
    podCard({ pod: `${name}/0123456789`, startedAt, revision: 7, handlers: ['nightly'] });
  return { at, registry, cardOf };
}

describe('fencepost doctor', () => {
  it('finds nobody alive, says what to do, and fails', async () => {
    const { at } = await deployment();
    const { code, json } = await at.json('doctor');
    expect(code).toBe(1);
    expect(json).toContainEqual({
      code: 'NO_SCHEDULER',
      level: 'bad',
      subject: 'schedulers',
      text: expect.stringContaining('no cron fires') as string,
      todo: expect.stringContaining('Start your application') as string,
    });
    const { out } = await at.ask('doctor');
    expect(out).toContain('BAD  NO_SCHEDULER  schedulers');
    expect(out).toContain('     To do: ');
  });

  it('has nothing to say of pods and crons that are as they should be', async () => {
    const { at, registry, cardOf } = await deployment();
    await registry.report(cardOf('pod-a'));
    await registry.report(cardOf('pod-b'));
    const { json } = await at.json('doctor');
    const findings = json as DoctorFinding[];
    // How the server of the tests is set is its own affair.
    expect(findings.filter(({ subject }) => !subject.startsWith('redis'))).toMatchObject([{ code: 'LOOKED_AT' }]);
  });
});

describe('fencepost token', () => {
  it('prints a token once, and the line by which it is known', async () => {
    const { code, json } = await fencepost(['token', 'grafana', '--role', 'viewer', '--json']);
    const { token, line } = json as { token: string; line: string };
    expect(code).toBe(0);
    expect(roleOf(parseTokens(line), token)).toEqual({ name: 'grafana', role: 'viewer' });
    const { out } = await fencepost(['token', 'grafana', '--role', 'viewer'], { terminal: true });
    expect(out).toMatch(/^Token: fencepost_\S{43}\nLine: {2}grafana:viewer:[0-9a-f]{64}\n/);
  });

  it.each([
    [['token', 'a:b', '--role', 'viewer'], 'letters, digits'],
    [['token', 'a', '--role', 'root'], 'viewer, operator, admin'],
    [['token', 'a'], '--role'],
  ])('refuses %j', async (args, words) => {
    const { code, err, out } = await fencepost(args);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    expect(out).toBe('');
  });
});

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
    ...{
      roles: ['worker'],
      revision: 7,
      assigned: null,
      held: null,
      concurrency: 10,
      running: 2,
      handlers: ['nightly'],
    },
    ...{ clockSkewMs: 0.4 },
  });

  it('shows each pod in a line, and never the whole of its identity', async () => {
    const { code, out } = await asked([worker, scheduler]);
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(head).toMatch(/^POD +ROLES +VERSION +ZONES +APP +REVISION +CLOCK +STORE +LAG +CRONS +RUNS +SINCE \(UTC\)$/);
    const cells = lines.map((line) => line.split(/ {2,}/));
    const rest = ['0.5 ms', '3.2 ms'];
    const since = '2023-11-14T22:13:20Z';
    expect(cells).toEqual([
      ['s-1/0d9f1f6e', 'scheduler', '0.1.0', '2025c', '@shop/reports', '-', '-1235 ms', ...rest, '3 of 4', '-', since],
      [
        'w-1/0d9f1f6e',
        'worker',
        '0.1.0',
        '2025c',
        '@shop/reports',
        '7',
        '+0 ms',
        '0.5 ms',
        '3.0 ms',
        '-',
        '2 of 10',
        since,
      ],
    ]);
  });

  it('answers a program with all that a pod says of itself', async () => {
    const { code, out } = await asked([worker], '--json');
    expect(code).toBe(0);
    expect(out).not.toContain(UUID);
    const seenAt: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/);
    expect(JSON.parse(out)).toEqual([
      {
        ...worker,
        ...{ leases: null, leaseNodes: [], lateMs: null, backlog: null, weight: null },
        pod: 'w-1/0d9f1f6e',
        startedAt: '2023-11-14T22:13:20.000Z',
        seenAt,
      },
    ]);
  });
});
