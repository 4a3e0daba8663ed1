import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Telemetry, leaseWarnings, type EventListener } from './telemetry.js';
import { parseFence } from '@fencepost/lease';
import { recordedEvents } from '../../../../test/support/recorded.js';

describe('telemetry', () => {
  it('says whether anybody listens, here or on the diagnostics channel', () => {
    const telemetry = new Telemetry();
    expect(telemetry.listens('catalog.read')).toBe(false);
    const end = telemetry.listen(() => {});
    expect(telemetry.listens('catalog.read')).toBe(true);
    end();
    const onMessage = () => {};
    subscribe('fencepost:catalog.read', onMessage);
    expect([telemetry.listens('catalog.read'), telemetry.listens('run.confirmed')]).toEqual([true, false]);
    unsubscribe('fencepost:catalog.read', onMessage);
    expect(telemetry.listens('catalog.read')).toBe(false);
  });

  it('hands the first warnings to the first log, and keeps none afterwards', () => {
    const telemetry = new Telemetry();
    telemetry.emit('catalog.read', { crons: 1 });
    for (let n = 0; n < 100; n += 1) telemetry.emit('store.warning', { code: `${n}`, found: 'x' });
    const heard: string[] = [];
    const hear: EventListener = (name) => void heard.push(name);
    telemetry.listenAsLog(hear);
    expect(heard).toEqual(Array<string>(20).fill('store.warning'));
    telemetry.emit('catalog.adopted', { crons: 1 });
    telemetry.replayEarly(hear);
    expect(heard.slice(20)).toEqual(['catalog.adopted']);
  });

  it('goes on when a listener fails, and warns: what happened has happened', async () => {
    const telemetry = new Telemetry();
    let heard = 0;
    telemetry.listen(() => {
      throw new Error('disk full');
    });
    telemetry.listen(() => void (heard += 1));
    const warned = once(process, 'warning');
    telemetry.emit('catalog.read', { crons: 3 });
    expect(heard).toBe(1);
    expect((await warned)[0]).toMatchObject({
      message: 'A listener of the event catalog.read failed: Error: disk full',
    });
  });

  it('publishes each event on the diagnostics channel of its name', () => {
    const heard: unknown[] = [];
    const onMessage = (message: unknown) => void heard.push(message);
    subscribe('fencepost:catalog.read', onMessage);
    new Telemetry().emit('catalog.read', { crons: 3 });
    new Telemetry().emit('run.confirmed', { cron: 'c', runId: 'c@1' });
    unsubscribe('fencepost:catalog.read', onMessage);
    new Telemetry().emit('catalog.read', { crons: 4 });
    expect(heard).toEqual([{ crons: 3 }]);
  });
});

describe('lease warnings', () => {
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
});
