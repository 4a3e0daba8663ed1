import { Telemetry } from '@fencepost/jobs';
import { AUDIT_TRAIL, CronCatalog, CronOperator } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { declaredBy, podOf } from '../support/declared-by.js';
import { SECRETS } from '../support/scheduler-app.js';
import { startTwoWays, type TwoWays } from '../support/two-ways.js';

/** Crons of the app "billing", which has a live pod in every test. */
const LIVE = ['nightly', 'hourly', 'binned'];
const DETAIL =
  'The cron "nightly" can\'t be removed while live pods of the app "billing" declare it: run "fencepost pause nightly ' +
  '--reason <words>", or remove it from the code of the app "billing".';

let ways: TwoWays;

beforeAll(async () => {
  ways = await startTwoWays();
  await declaredBy('billing', LIVE, ways.running);
  await declaredBy('legacy', ['gone', 'gone-too', 'gone-by-bin'], ways.running);
  await ways.crons('made', 'made-too');
});
beforeEach(() => podOf('billing', LIVE, ways.running));
afterAll(() => ways.running.close());

const json = async (response: Response | Promise<Response>) =>
  (await (await response).json()) as Record<string, unknown>;

const trailOf = (cron: string) =>
  ways.running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false }).list({ limit: 10, cron });
const stateOf = async (cron: string) => (await ways.running.app.get(CronCatalog, { strict: false }).get(cron))?.state;
const pauseOf = async (cron: string) =>
  (await ways.running.app.get(CronOperator, { strict: false }).list()).find(({ name }) => name === cron)?.paused;

describe('DELETE /api/crons/{cron}', () => {
  const remove = (cron: string) =>
    ways.running.ask(`/api/crons/${cron}?reason=of+no+use`, { as: 'admin', method: 'DELETE' });

  it('refuses a cron that a live pod declares, with who does and what to do', async () => {
    const response = await remove('nightly');
    expect([response.status, await response.json()]).toEqual([
      409,
      {
        ...{ type: 'https://fencepost.dev/problems/declared-cron', title: 'Declared by code', status: 409 },
        ...{ code: 'DECLARED_CRON', detail: DETAIL, apps: ['billing'] },
      },
    ]);
    expect([await stateOf('nightly'), await trailOf('nightly')]).toEqual(['active', []]);
  });

  it('removes a declared cron whose app has no live pod, and says what brings it back', async () => {
    expect(await json(remove('gone'))).toEqual({ cron: 'gone', done: true, declaredBy: 'legacy' });
    const after = { state: 'removed', declaredBy: 'legacy', comesBack: 'when a pod of "legacy" declares it again' };
    expect(await trailOf('gone')).toMatchObject([{ by: 'anna', action: 'remove', reason: 'of no use', after }]);
  });

  it('removes a cron that was made at run time', async () => {
    expect(await json(remove('made'))).toEqual({ cron: 'made', done: true, declaredBy: null });
  });
});

describe('fencepost remove', () => {
  const because = ['--reason', 'of no use'];
  const remove = (way: 'direct' | 'remote', ...args: readonly string[]) => {
    const remote = { env: { ...ways.remote, FENCEPOST_TOKEN: SECRETS.admin } };
    return ways.ask(way, ['remove', ...args, ...because], way === 'remote' ? remote : {});
  };

  it.each(['direct', 'remote'] as const)('refuses a cron that a live pod declares, %s', async (way) => {
    const { code, json: answer } = await remove(way, 'nightly', '--json');
    expect([code, answer]).toEqual([1, { cron: 'nightly', verdict: 'declared', apps: ['billing'] }]);
    const told = await remove(way, 'nightly');
    expect([told.code, told.err, told.out.trimEnd().replaceAll(/\n */g, ' ')]).toEqual([1, '', DETAIL]);
    expect(await stateOf('nightly')).toBe('active');
  });

  it('says what brings a removed cron back, which its app declared', async () => {
    const { code, out } = await remove('remote', 'gone-too');
    const sentence = 'It comes back if a pod of "legacy" declares it again.';
    expect([code, out]).toEqual([0, `gone-too is removed, by anna: of no use\n${sentence}\n`]);
    expect((await trailOf('gone-too'))[0]?.after).toMatchObject({ declaredBy: 'legacy' });
  });
});

describe("Bull Board's bin", () => {
  const bin = (cron: string) =>
    ways.running.ask(`/queues/api/queues/runs/job-schedulers/${cron}/remove`, { as: 'admin', method: 'PUT' });
  const listed = async (cron: string) => {
    const { schedulers } = await json(ways.running.ask('/queues/api/job-schedulers'));
    return (schedulers as { id: string }[]).find(({ id }) => id === cron);
  };

  it('pauses a cron that a live pod declares, with a record, and lists it as paused', async () => {
    const telemetry = ways.running.app.get(Telemetry, { strict: false });
    const events: unknown[] = [];
    const stop = telemetry.listen(
      (event, detail) => void events.push([event, detail]),
      new Set(['cron.paused-instead']),
    );
    expect((await bin('binned')).status).toBe(204);
    stop();
    const reason = 'asked to be removed on the board; paused instead, because code of billing declares it';
    expect(await stateOf('binned')).toBe('active');
    expect(await pauseOf('binned')).toMatchObject({ by: 'anna', reason, until: null });
    expect(await trailOf('binned')).toMatchObject([
      {
        by: 'anna',
        role: 'admin',
        action: 'pause',
        from: 'queues 127.0.0.1',
        reason,
        before: null,
        after: { until: null },
      },
    ]);
    const shown = await listed('binned');
    expect(shown).toMatchObject({ id: 'binned', name: 'binned · paused by anna' });
    expect(shown).not.toHaveProperty('next');
    expect(events).toEqual([['cron.paused-instead', { cron: 'binned', apps: ['billing'], by: 'anna' }]]);
  });

  it('lists a cron that is paused for a while with the end of the pause, and the next run after it', async () => {
    const until = new Date(Date.now() + 60_000).toISOString();
    const paused = await ways.running.order('/api/crons/hourly/pause', { reason: 'a test', until });
    expect(paused.status).toBe(200);
    expect(await listed('hourly')).toMatchObject({
      name: `hourly · paused by otto until ${until}`,
      next: expect.any(Number) as unknown,
    });
  });

  it('removes a cron that was made at run time, and one whose app has no live pod', async () => {
    for (const cron of ['made-too', 'gone-by-bin']) expect((await bin(cron)).status).toBe(204);
    expect([await stateOf('made-too'), await stateOf('gone-by-bin')]).toEqual(['removed', 'removed']);
    expect([await listed('made-too'), await pauseOf('gone-by-bin')]).toEqual([undefined, null]);
    expect(await trailOf('gone-by-bin')).toMatchObject([
      { action: 'remove', from: 'queues 127.0.0.1', after: { declaredBy: 'legacy' } },
    ]);
  });

  it.each(['en-US', 'en-GB', 'de-DE', 'zh-CN'])('says in %s what it does', async (language) => {
    const words = await json(ways.running.ask(`/queues/static/locales/${language}/messages.json?v=9.10.1`));
    const { CONFIRM, TOAST, ACTIONS } = words['SCHEDULERS'] as Record<string, Record<string, string>>;
    expect(CONFIRM?.['REMOVE']).toContain('If code of a live pod declares it, it is paused');
    expect(TOAST?.['REMOVE_DONE']).toContain('paused if code of a live pod declares it, otherwise removed');
    expect([ACTIONS?.['REMOVE'], typeof CONFIRM?.['RUN'], typeof ACTIONS?.['RUN']]).toEqual([
      'Pause or remove',
      'string',
      'string',
    ]);
  });
});
