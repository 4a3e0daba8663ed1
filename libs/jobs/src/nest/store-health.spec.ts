import { SetupError } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { Telemetry } from '../telemetry/telemetry.js';
import { StoreHealth, type StoreHealthDeps } from './store-health.js';

const MINUTE_MS = 60_000;

function healthOf(ask: StoreHealthDeps['ask']) {
  const [clock, telemetry, logged] = [new ManualClock(), new Telemetry(), [] as unknown[]];
  telemetry.listen((event, detail) => logged.push([event, detail]));
  return { clock, logged, health: new StoreHealth({ ask, clock, telemetry }) };
}

describe('StoreHealth', () => {
  it('asks a store once a second at most, however many probes come', async () => {
    let asked = 0;
    const { clock, health } = healthOf({ redis: async () => (asked += 1) });
    await Promise.all(Array.from({ length: 100 }, () => health.check()));
    expect(await health.check()).toEqual([{ store: 'redis', up: true, message: null }]);
    expect(asked).toBe(1);
    await clock.advance(1_000);
    await health.check();
    expect(asked).toBe(2);
  });

  it('answers in less than a second for a store that says nothing', async () => {
    const { clock, health } = healthOf({ redis: async () => {}, postgres: () => new Promise(() => {}) });
    const answer = health.check();
    await clock.advance(999);
    expect(await answer).toEqual([
      { store: 'redis', up: true, message: null },
      { store: 'postgres', up: false, message: 'PostgreSQL does not answer in time' },
    ]);
  });

  it('is an indicator of Terminus', async () => {
    const away = () => Promise.reject(new Error('gone'));
    const both = healthOf({ redis: async () => {}, postgres: away });
    expect(await both.health.isHealthy('fencepost')).toEqual({
      fencepost: { status: 'down', redis: 'up', postgres: 'PostgreSQL does not answer' },
    });
    expect(await healthOf({ redis: async () => {} }).health.isHealthy('stores')).toEqual({
      stores: { status: 'up', redis: 'up' },
    });
  });

  it('does not repeat what a driver threw: it may name a password', async () => {
    const { health } = healthOf({ redis: () => Promise.reject(new Error('AUTH hunter2')) });
    expect(await health.check()).toEqual([{ store: 'redis', up: false, message: 'Redis does not answer' }]);
  });

  it('looks each minute without being asked, and tells each minute of a store that this release can not work with', async () => {
    let fits = true;
    const refuse = () => Promise.reject(new SetupError('Expected version 1, found version 2.'));
    const { clock, logged, health } = healthOf({ postgres: () => (fits ? Promise.resolve() : refuse()) });
    health.start();
    await clock.advance(MINUTE_MS);
    expect(logged).toEqual([]);
    fits = false;
    await clock.advance(MINUTE_MS);
    const line = ['store.unfit', { found: 'Expected version 1, found version 2.' }];
    expect(logged).toEqual([line]);
    await clock.advance(1_000);
    await health.check();
    expect(logged).toEqual([line]);
    await clock.advance(MINUTE_MS);
    expect(logged).toEqual([line, line]);
    health.stop();
    await clock.advance(3 * MINUTE_MS);
    expect(logged).toEqual([line, line]);
  });
});
