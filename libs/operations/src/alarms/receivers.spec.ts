import { expect, it } from 'vitest';
import { Receivers } from './receivers.js';

const names = (count: number) => Array.from({ length: count }, (_, n) => `cron-${n}`);

it('a receiver of thousands of crons names the first hundred, and says how many more there are', async () => {
  const entries = names(5_000).map((name) => ({ definition: { name, ping: { success: 'https://pings.example' } } }));
  const webhook = { url: 'https://alerts.example', secret: 's3cret', events: [], crons: names(101) };
  const deps = {
    webhooks: [webhook],
    catalog: { read: async () => ({ entries }) },
    deliveries: { of: async () => [] },
  };
  const receivers = new Receivers(deps as unknown as ConstructorParameters<typeof Receivers>[0]);
  const [hook, pings] = await receivers.list();
  expect(hook).toMatchObject({ kind: 'webhook', crons: names(100), moreCrons: 1 });
  expect(pings).toMatchObject({ kind: 'pings', crons: names(100), moreCrons: 4_900 });
});
