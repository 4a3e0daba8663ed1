import { formatFence, parseFence, type Fence } from '@fencepost/lease';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import { describe, expect, it } from 'vitest';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { RedisPodRegistry } from '@fencepost/jobs/internal';
import { fencepost, declared, FencepostDeployment } from '../support/fencepost.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const HOLDER = 'pod-a/0123456789abcdef';

async function stage() {
  const space = { redis: spaces.redis(), ...spaces.fresh() };
  const at = await FencepostDeployment.of(space, [
    declared('nightly'),
    declared('weekly', '0 3 * * *', { tags: ['eu'] }),
  ]);
  const leases = new RedisLeaseStore({ ...space, kind: 'cron' });
  const acquire = async (resource: string, holder = HOLDER): Promise<Fence> => {
    const request = { resource, holder, nonce: `${holder}-${Math.random()}`, ttlMs: 60_000, floor: parseFence('0') };
    const reply = await leases.acquire(request);
    if (!reply.acquired) throw new Error(`Expected ${resource} to be free.`);
    return reply.fence;
  };
  const clear = (...args: string[]) =>
    fencepost(['leases', 'clear', 'nightly', '--reason', 'its pod is dead', '--watch', '0s', ...args], {
      env: at.env,
      host: 'host-1',
    });
  return { at, leases, acquire, clear, trail: new RedisAuditTrail(space), pods: new RedisPodRegistry(space) };
}

describe('fencepost leases', () => {
  it('shows who holds which cron, with what fence and for how long, and what nobody holds', async () => {
    const { at, acquire } = await stage();
    const fence = await acquire('nightly');
    const { json, code } = await at.json('leases');
    expect(code).toBe(0);
    expect(json).toEqual({
      held: [
        {
          ...{
            cron: 'nightly',
            holder: 'pod-a/01234567',
            fence: formatFence(fence),
            holderState: 'unknown',
            holderSilentMs: null,
          },
          remainingMs: expect.any(Number) as number,
          heldSince: expect.stringMatching(/^20.*Z$/) as string,
        },
      ],
      free: ['weekly'],
      ...{ own: [], next: null, nodes: [] },
    });
    const { out } = await at.ask('leases');
    expect(out).toContain(`nightly  pod-a/01234567  ${fence}`);
    expect(out).not.toContain(HOLDER);
  });
});

describe('fencepost leases --tag', () => {
  it('shows the leases of the crons with the tag, and nothing of the application', async () => {
    const { at, acquire } = await stage();
    for (const name of ['nightly', 'weekly']) await acquire(name);
    expect((await at.json('leases', '--tag', 'eu')).json).toMatchObject({
      ...{ held: [{ cron: 'weekly' }], free: [], own: [] },
    });
    expect((await at.ask('leases', '--tag', 'other')).out).toContain('No lease is held.');
  });
});

describe('fencepost leases clear', () => {
  it('asks a person at a terminal, and leaves the lease alone unless they say yes', async () => {
    const { at, leases, acquire } = await stage();
    const fence = await acquire('nightly');
    const questions: string[] = [];
    const answered = (answer: string) => ({
      env: at.env,
      ask: async (question: string) => {
        questions.push(question);
        return answer;
      },
    });
    const args = ['leases', 'clear', 'nightly', '--reason', 'its pod is dead', '--watch', '0s', '--json'];
    const declined = await fencepost(args, answered(''));
    expect([declined.code, declined.json]).toEqual([1, { cron: 'nightly', verdict: 'declined' }]);
    expect(await leases.inspect(['nightly'])).toMatchObject([{ fence }]);
    const agreed = await fencepost(args, answered('y'));
    expect([agreed.code, agreed.json]).toMatchObject([
      0,
      { verdict: 'cleared', cleared: { fence: formatFence(fence) } },
    ]);
    expect(await leases.inspect(['nightly'])).toEqual([null]);
    expect(questions[0]).toContain(`nightly with fence ${fence}`);
  });

  it('needs --yes where nobody can be asked', async () => {
    const { leases, acquire, clear, trail } = await stage();
    await acquire('nightly');
    const { code, err } = await clear();
    expect([code, err]).toEqual([2, expect.stringContaining('--yes is required')]);
    expect(await leases.inspect(['nightly'])).toMatchObject([{ holder: HOLDER }]);
    expect(await trail.list({ limit: 10 })).toEqual([]);
  });

  it('clears no other term than the one that was meant', async () => {
    const { leases, acquire, clear, trail } = await stage();
    const fence = await acquire('nightly');
    const { code, json } = await clear('--yes', '--json', '--fence', formatFence(parseFence(`${fence - 1}`)));
    expect([code, json]).toMatchObject([1, { verdict: 'moved', found: { fence: formatFence(fence) } }]);
    expect(await leases.inspect(['nightly'])).toMatchObject([{ fence }]);
    expect(await trail.list({ limit: 10 })).toEqual([]);
  });

  it('says that nobody holds the lease, and that there is no such cron', async () => {
    const { clear, at } = await stage();
    expect(await clear('--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing to clear') as string,
    });
    const unknown = await at.ask('leases', 'clear', 'nigthly', '--reason', 'x', '--yes');
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('"nightly"')]);
  });

  it('watches until it is interrupted, and fails when no pod has taken the cron', async () => {
    const { at, acquire } = await stage();
    await acquire('nightly');
    const args = ['leases', 'clear', 'nightly', '--reason', 'dead', '--yes', '--watch', '1h', '--json'];
    const { code, json } = await fencepost(args, { env: at.env, interrupted: () => AbortSignal.abort() });
    expect([code, json]).toMatchObject([1, { verdict: 'cleared', watch: { verdict: 'free', observations: [] } }]);
  });

  it('takes where the store is also before the word', async () => {
    const { at, acquire } = await stage();
    await acquire('nightly');
    const env = { ...at.env, FENCEPOST_PREFIX: 'nobodys' };
    const args = ['leases', '--prefix', at.prefix, 'clear', 'nightly', '--reason', 'x', '--yes', '--watch', '0s'];
    expect((await fencepost([...args], { env })).out).toContain('is cleared');
  });
});

describe('an order', () => {
  it('leaves a record in the audit trail, and one that changes nothing leaves none', async () => {
    const { at, trail } = await stage();
    const ask = (...args: string[]) => fencepost(args, { env: at.env, host: 'host-1' });
    await ask('resume', 'nightly', '--reason', 'was not paused');
    await ask(
      'backfill',
      'nightly',
      '--from',
      '2026-01-01',
      '--to',
      '2026-01-02',
      '--dry-run',
      '--reason',
      'only looking',
    );
    await ask('cancel', 'nightly@1', '--reason', 'not there');
    await ask('pause', 'nigthly', '--reason', 'not there');
    expect(await trail.list({ limit: 10 })).toEqual([]);
    await ask('pause', 'nightly', '--reason', 'disk full');
    await ask('resume', 'nightly', '--reason', 'disk is fine', '--by', 'anna');
    await ask('trigger', 'nightly', '--payload', '{"card":"4111"}');
    await ask('set', 'hourly', '--expression', '0 * * * *', '--reason', 'new');
    await ask('remove', 'hourly', '--reason', 'old');
    const records = await trail.list({ limit: 10 });
    expect(records.map(({ action, cron, by }) => [action, cron, by])).toEqual([
      ['remove', 'hourly', 'otto'],
      ['set', 'hourly', 'otto'],
      ['trigger', 'nightly', 'otto'],
      ['resume', 'nightly', 'anna'],
      ['pause', 'nightly', 'otto'],
    ]);
    const [removed, set, triggered, resumed, paused] = records;
    expect(removed).toMatchObject({ before: { state: 'active' }, after: { state: 'removed' }, reason: 'old' });
    expect(set).toMatchObject({ before: null, after: { generation: 1, definition: { expression: '0 * * * *' } } });
    expect(triggered).toMatchObject({ runId: expect.stringMatching(/^nightly@manual-/) as string });
    expect(resumed).toMatchObject({ before: { by: 'otto', reason: 'disk full' }, after: { paused: null } });
    expect(paused).toMatchObject({ before: null, after: { until: null }, from: 'cli host-1', role: 'shell' });
    expect(JSON.stringify(records)).not.toContain('4111');
  });

  it('that cancels leaves how the run was before', async () => {
    const { at, trail } = await stage();
    const runId = await at.claimed('nightly', Date.UTC(2026, 2, 2, 3));
    await at.ask('cancel', runId, '--reason', 'wrong month');
    expect(await trail.list({ limit: 10 })).toMatchObject([
      { action: 'cancel', cron: 'nightly', runId, before: { state: 'claimed' }, after: { verdict: 'cancelled' } },
    ]);
  });
});
