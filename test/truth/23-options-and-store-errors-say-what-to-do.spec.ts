import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, afterAll, beforeAll } from 'vitest';
import { LEDGER } from '@fencepost/jobs';
import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import type { Ledger } from '@fencepost/ledger';
import { eventSentence } from '@fencepost/jobs/internal';
import { fencepost } from '../support/fencepost.js';
import { testRedis } from '../support/redis.js';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

describe('a store that is away', () => {
  it('is named by the command line with its address, without the password, and with what to do', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const database = `postgres://ada:s3cret@127.0.0.1:${port}/db`;
    const { code, err } = await fencepost(['list', '--redis', testRedis(), '--postgres', database]);
    expect(code).toBe(3);
    expect(err).toMatch(
      /^PostgreSQL could not be reached at postgres:\/\/\*\*\*@127\.0\.0\.1:\d+\/db .*\. Start it, or /,
    );
    expect(err).not.toContain('s3cret');
  });
});

describe('the sentence of a skipped occurrence', () => {
  it('says which of the reasons it is', () => {
    expect(eventSentence('occurrence.skipped', { reason: 'paused' })).toBe('occurrence skipped: the cron is paused');
    expect(eventSentence('occurrence.skipped', { reason: 'overlap' })).toBe(
      'occurrence skipped: an earlier run of the cron is still open, running or waiting for a worker',
    );
  });
});

describe('small disagreements', () => {
  let running: RunningApp;

  let crons: CronCatalog;

  let trail: AuditTrail;

  beforeAll(async () => {
    running = await startSchedulerApp();
    crons = running.app.get(CronCatalog, { strict: false });
    trail = running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false });
  });

  afterAll(() => running.close());

  describe('an id of a run in the API', () => {
    it.each(['x%7D%401', 'x%0A%401', `${'x'.repeat(5_000)}%401`])(
      'that can not be one is a bad request: %s',
      async (id) => {
        const response = await running.ask(`/api/runs/${id}`);
        expect([response.status, await response.json()]).toMatchObject([400, { code: 'BAD_REQUEST' }]);
      },
    );

    it('may be that of an idempotency key, with dots and underlines', async () => {
      await crons.set('send-mail', { expression: '@manual' }, { by: 'test' });
      const ledger = running.app.get<Ledger>(LEDGER, { strict: false });
      const runId = 'send-mail@order_4711.1';
      const words = { reason: 'manual', by: 'ada', payload: null, handler: null, missed: null } as const;
      await ledger.trigger({ runId, nonce: 'n', scheduledAt: null, generation: 1, overlap: 'allow', ...words });
      expect((await running.ask(`/api/runs/${runId}`)).status).toBe(200);
    });
  });

  describe('a definition that a program changes', () => {
    it('leaves an audit record of who it was, and how it was before and after', async () => {
      const order = { by: 'billing-service', reason: 'the month is over' };
      await crons.set('made-here', { expression: '0 3 * * *' }, order);
      await crons.set('made-here', { expression: '0 4 * * *' }, order);
      await crons.remove('made-here', order);
      const about = { ...order, role: 'app', cron: 'made-here', from: expect.stringMatching(/^app /) as unknown };
      const at = (expression: string) =>
        expect.objectContaining({ definition: expect.objectContaining({ expression }) }) as unknown;
      expect(await trail.list({ limit: 10, cron: 'made-here' })).toMatchObject([
        { ...about, action: 'remove', before: at('0 4 * * *'), after: { state: 'removed' } },
        { ...about, action: 'set', before: at('0 3 * * *'), after: at('0 4 * * *') },
        { ...about, action: 'set', before: null, after: at('0 3 * * *') },
      ]);
    });

    it('is recorded once where the API records it', async () => {
      await crons.set('removed-there', { expression: '@manual' }, { by: 'test' });
      expect(
        (await running.ask('/api/crons/removed-there?reason=gone', { as: 'admin', method: 'DELETE' })).status,
      ).toBe(200);
      const records = await trail.list({ limit: 10, cron: 'removed-there' });
      expect(records.map(({ action, role }) => [action, role])).toEqual([
        ['remove', 'admin'],
        ['set', 'app'],
      ]);
    });
  });
});
