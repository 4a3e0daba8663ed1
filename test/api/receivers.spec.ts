import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { useReceivers } from '../support/receiver.js';
import { startSchedulerApp } from '../support/scheduler-app.js';

const [OLD, NEW] = [7, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string];
const receiver = useReceivers();

interface Shown {
  readonly items: readonly {
    readonly id: string;
    readonly deliveries: readonly { readonly outcome: string; readonly status: number | null }[];
  }[];
}

async function started(url: string, crons?: readonly string[]) {
  const webhooks = [{ url: `${url}/hooks/s3cret-path`, secret: [NEW, OLD], ...(crons && { crons }) }];
  const alarms = { allowHosts: ['127.0.0.1'], timeout: '2s' };
  const running = await startSchedulerApp({ settings: { webhooks, alarms } });
  const shown = async (query = '') => (await (await running.ask(`/api/receivers${query}`)).json()) as Shown;
  return { running, shown };
}

describe('the receivers', () => {
  it('are shown with what they hear of, and take a signed test whose end is in their log', async () => {
    const told = await receiver();
    const { running, shown } = await started(told.url);
    try {
      const before = await shown();
      expect(before.items).toEqual([
        expect.objectContaining({ kind: 'webhook', to: told.url, crons: null, secrets: 2, deliveries: [] }),
      ]);
      expect(JSON.stringify(before)).not.toMatch(/s3cret|whsec_/);
      const id = before.items[0]?.id;
      const sent = await running.order(`/api/receivers/${id}/test`, { reason: 'a new secret' });
      expect([sent.status, await sent.json()]).toEqual([
        200,
        expect.objectContaining({ about: 'webhook.test', outcome: 'delivered', status: 204, error: null }),
      ]);
      const [{ body, headers } = { body: '', headers: {} }] = told.received;
      for (const secret of [OLD, NEW])
        expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'webhook.test' });
      told.next(500);
      const failed = await running.order(`/api/receivers/${id}/test`, { reason: 'again' });
      expect(await failed.json()).toMatchObject({
        outcome: 'failed',
        status: 500,
        error: expect.stringContaining('500'),
      });
      const [{ deliveries } = { deliveries: [] }] = (await shown()).items;
      expect(deliveries.map(({ outcome, status }) => [outcome, status])).toEqual([
        ['failed', 500],
        ['delivered', 204],
      ]);
      const trail = running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false });
      expect(await trail.list({ limit: 2 })).toMatchObject([{ action: 'test-receiver', reason: 'again' }, {}]);
      expect(JSON.stringify(await trail.list({ limit: 2 }))).not.toMatch(/s3cret|whsec_/);
    } finally {
      await running.close();
    }
  });

  it('of a cron are those that hear of it, its pings among them', async () => {
    const told = await receiver();
    const { running, shown } = await started(told.url, ['nightly']);
    try {
      const crons = running.app.get(CronCatalog, { strict: false });
      const ping = { success: `${told.url}/s3cret-ping` };
      await crons.set('hourly', { expression: '@manual', ping }, { by: 'test' });
      await crons.set('nightly', { expression: '@manual' }, { by: 'test' });
      expect((await shown('?cron=nightly')).items).toMatchObject([{ kind: 'webhook', crons: ['nightly'] }]);
      const hourly = await shown('?cron=hourly');
      expect(hourly.items).toMatchObject([{ id: 'pings', crons: ['hourly'] }]);
      expect(JSON.stringify(hourly)).not.toContain('s3cret');
      expect((await running.order('/api/receivers/pings/test', { reason: 'x' })).status).toBe(404);
      expect((await running.order('/api/receivers/pings/test', { reason: 'x' }, 'viewer')).status).toBe(403);
    } finally {
      await running.close();
    }
  });
});
