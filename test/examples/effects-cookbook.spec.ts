import { testJobs } from '@fencepost/testing';
import { describe, expect, it } from 'vitest';
import { Cookbook, type Bucket, type Mail, type Payments } from '../../examples/effects-cookbook.js';

const ORDER = { id: '42', amount: 900, to: 'anna@example.org' };

/** The cookbook with services in memory that behave as the page says. */
async function stage() {
  const [charges, objects, mails] = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()];
  const payments: Payments = {
    async create(_, { idempotencyKey }) {
      const id = charges.get(idempotencyKey) ?? `ch_${charges.size + 1}`;
      charges.set(idempotencyKey, id);
      return { id };
    },
  };
  const bucket: Bucket = {
    async put({ key, body }) {
      if (objects.has(key)) throw Object.assign(new Error('exists'), { name: 'PreconditionFailed' });
      objects.set(key, body);
    },
  };
  const mail: Mail = {
    async send({ to, messageId }) {
      mails.set(messageId, to);
      return `sent-${mails.size}`;
    },
    find: async (messageId) => (mails.has(messageId) ? 'found' : null),
  };
  return { jobs: await testJobs({ crons: [new Cookbook(payments, bucket, mail)] }), charges, objects, mails };
}

describe('the recipes of the effects cookbook', () => {
  it.each([
    ['charge-order', 'charge', 'charges'],
    ['export-order', 'upload', 'objects'],
    ['confirm-order', 'send', 'mails'],
  ] as const)('%s takes effect once, although its worker dies after the call', async (job, effect, sink) => {
    const { jobs, ...sinks } = await stage();
    jobs.crash.afterEffect(effect);
    const run = await jobs.enqueue(job, ORDER);
    await jobs.advance('5m');
    expect((await jobs.run(run)).state).toBe('succeeded');
    expect(sinks[sink].size).toBe(1);
  });

  it('remind-customers sends one mail per customer', async () => {
    const { jobs, mails } = await stage();
    const run = await jobs.enqueue('remind-customers', [ORDER, { ...ORDER, id: '43' }]);
    expect((await jobs.run(run)).state).toBe('succeeded');
    expect(mails.size).toBe(2);
  });
});
