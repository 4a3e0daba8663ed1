import { AUDIT_TRAIL } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTwoWays, type TwoWays } from '../support/two-ways.js';

let ways: TwoWays;
beforeAll(async () => {
  ways = await startTwoWays();
  await ways.crons('nightly');
});
afterAll(() => ways.running.close());

const trail = () => ways.running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 1 });
const REASON = ['--reason', 'the mail server moves'];

describe.each(['direct', 'remote'] as const)('fencepost mute, %s', (way) => {
  const ask = (...args: string[]) => ways.ask(way, args);

  it.each([
    [['nightly'], { cron: 'nightly', tag: null }],
    [['--tag', 'billing'], { cron: null, tag: 'billing' }],
  ])('mutes %j until its end, and ends it, each with who and why', async (target, about) => {
    const { code, json } = await ask('mute', ...target, '--for', '2h', ...REASON, '--json');
    expect([code, json]).toEqual([0, expect.objectContaining({ ...about, reason: 'the mail server moves' })]);
    expect(Date.parse((json as { until: string }).until) - Date.now()).toBeGreaterThan(7_000_000);
    expect(await trail()).toMatchObject([{ action: 'mute', cron: about.cron, reason: 'the mail server moves' }]);
    const listed = await ask('mutes', '--json');
    expect(listed.json).toEqual([json]);
    expect((await ask('mutes')).out).toContain(about.cron ?? 'tag billing');
    const ended = await ask('unmute', ...target, '--reason', 'it has moved', '--json');
    expect(ended.json).toEqual({ ended: json });
    expect(await trail()).toMatchObject([{ action: 'unmute', cron: about.cron, reason: 'it has moved' }]);
    expect((await ask('unmute', ...target, ...REASON, '--json')).json).toEqual({ ended: null });
    expect((await ask('mutes')).out).toContain('Nothing is muted.');
  });

  it.each([
    ['a cron that does not exist', ['nihgtly', '--for', '1h', ...REASON], 'nightly'],
    ['no end', ['nightly', ...REASON], '--for or --until'],
    ['a cron and a tag', ['nightly', '--tag', 'billing', '--for', '1h', ...REASON], 'not both'],
    ['neither', ['--for', '1h', ...REASON], 'not both'],
    ['an end that is past', ['nightly', '--until', '2020-01-01T00:00:00Z', ...REASON], 'later than now'],
    ['no reason', ['nightly', '--for', '1h'], '--reason'],
  ])('refuses %s', async (_, args, said) => {
    const { code, err } = await ask('mute', ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  });
});

describe('the API of mutes', () => {
  it('takes either a cron or a tag, from an operator', async () => {
    const until = new Date(Date.now() + 60_000).toISOString();
    const body = { cron: 'nightly', tag: 'billing', until, reason: 'x' };
    expect((await ways.running.order('/api/mutes', body)).status).toBe(400);
    const refused = await ways.running.order('/api/mutes', { cron: 'nightly', until, reason: 'x' }, 'viewer');
    expect(refused.status).toBe(403);
  });
});
