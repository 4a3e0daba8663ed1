import { parseFence } from '@fencepost/lease';
import { expect, it } from 'vitest';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { leaseWarnings, Telemetry } from './telemetry.js';

function stage() {
  const telemetry = new Telemetry();
  return { observe: leaseWarnings(telemetry), events: recordedEvents(telemetry) };
}

it('tells what the server can not promise, and nothing of each lease', () => {
  const { observe, events } = stage();
  observe({ name: 'store.warning', code: 'HISTORY_LOST', message: 'Another one.' });
  observe({ name: 'fence.rejected', resource: 'a', downstream: 'sql', fence: parseFence('1') });
  expect(events.of('store.warning')).toEqual([{ code: 'HISTORY_LOST', found: 'Another one.' }]);
});

it('tells of a ttl that does not fit by the type of its resources, and never by the name of one', () => {
  const { observe, events } = stage();
  const unfit = { name: 'lease.ttl-unfit', verdict: 'too-short', ttlMs: 1, advisedTtlMs: 2 } as const;
  observe({ ...unfit, resource: 'invoice:*' });
  observe({ ...unfit, resource: 'mail:ann@example.org' });
  const about = events.of('lease.ttl-unfit').map((event) => event.about);
  expect(about).toEqual(['invoice:*', expect.stringMatching(/^[0-9a-f]{12}$/)]);
});
