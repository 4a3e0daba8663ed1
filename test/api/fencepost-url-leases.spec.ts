import { formatFence, Leases } from '@fencepost/lease';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { AUDIT_TRAIL } from '@fencepost/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRETS } from '../support/scheduler-app.js';
import { startTwoWays, type TwoWays } from '../support/two-ways.js';

let ways: TwoWays;
beforeAll(async () => {
  ways = await startTwoWays();
});
afterAll(() => ways.running.close());

/** Of one and the same lease, looked at twice, this alone differs. */
function still(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, inner: unknown) => (name === 'remainingMs' ? 'moves' : inner)));
}

describe('by way of a console, leases of the application', { timeout: 60_000 }, () => {
  const leases = () => ways.running.app.get(Leases, { strict: false });
  const admin = () => ({ env: { ...ways.remote, FENCEPOST_TOKEN: SECRETS.admin } });

  it('are listed as by way of the stores, a page at a time', async () => {
    const held = await leases().acquireMany(['invoice:1', 'invoice:2', 'invoice:3']);
    for (const args of [[], ['--kind', 'lease', '--resource', 'invoice'], ['--holder', 'scheduler-1']]) {
      const words = ['leases', ...args, '--json'];
      const [direct, remote] = [await ways.ask('direct', words), await ways.ask('remote', words)];
      expect([remote.code, remote.err, still(remote.json)]).toEqual([0, '', still(direct.json)]);
      const { own } = remote.json as { own: { resource: string; holderIsPod: boolean }[] };
      expect(own.map(({ resource }) => resource)).toEqual(['invoice:1', 'invoice:2', 'invoice:3']);
      expect(own.every(({ holderIsPod }) => holderIsPod)).toBe(true);
    }
    await held.release();
  });

  it('are cleared by an admin who confirms that the downstream is safe, and watched', async () => {
    const lease = await leases().acquire({ type: 'invoice', id: 42 });
    const clear = ['leases', 'clear', 'invoice:42', '--reason', 'stuck', '--yes', '--watch', '1s', '--json'];
    expect((await ways.ask('remote', clear, admin())).code).toBe(2);
    const moved = await ways.ask('remote', [...clear, '--downstream-safe', '--fence', '1'], admin());
    expect(moved).toMatchObject({ code: 1, json: { verdict: 'moved', found: { resource: 'invoice:42' } } });
    const { code, json, err } = await ways.ask('remote', [...clear, '--downstream-safe'], admin());
    expect([code, json]).toMatchObject([
      0,
      {
        ...{ kind: 'lease', resource: 'invoice:42', verdict: 'cleared', next: null },
        ...{ cleared: { fence: formatFence(lease.fence) }, watch: { verdict: 'free', observations: [] } },
      },
    ]);
    expect(err).toContain('IS ALIVE');
    await expect.poll(() => lease.signal.aborted, { timeout: 10_000 }).toBe(true);
    const [record] = await ways.running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 1 });
    expect(record).toMatchObject({
      ...{ by: 'anna', role: 'admin', action: 'clear-lease', reason: 'stuck' },
      before: { resource: 'invoice:42', downstreamSafe: true },
    });
  });

  it('that nobody holds are refused in one sentence', async () => {
    for (const way of ['direct', 'remote'] as const) {
      for (const name of ['invoice:0', 'nigthly']) {
        const { code, err } = await ways.ask(way, ['leases', 'clear', name, '--reason', 'x', '--yes']);
        const said = `Nobody holds a lease named "${name}", and it is no cron`;
        expect([code, err]).toEqual([2, expect.stringContaining(said)]);
      }
    }
  });
});
