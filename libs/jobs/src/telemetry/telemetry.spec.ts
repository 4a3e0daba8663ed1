import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Telemetry } from './telemetry.js';

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
