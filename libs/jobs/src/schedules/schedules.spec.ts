import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { parseSchedule, spreadOf } from '@fencepost/schedule';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { Schedules } from './schedules.js';

const clock = new ManualClock();
const telemetry = new Telemetry();
const events = recordedEvents(telemetry);
const schedules = new Schedules({ clock, telemetry });

function definition(over: Partial<CronDefinition>): CronDefinition {
  return {
    ...{ name: 'a', expression: '* * * * *', timeZone: 'UTC' },
    ...{ misfire: 'fire-once', overlap: 'skip', graceMs: 0, catchUpWindowMs: null, ...over },
  };
}

const of = (over: Partial<CronDefinition>) => schedules.of(definition(over));

describe('equal schedules', () => {
  it('are parsed once, whatever else differs', () => {
    expect(of({ name: 'b', overlap: 'allow' })).toBe(of({}));
    const dst = { gap: 'skip', repeat: 'both' } as const;
    expect(of({ name: 'b', dst: { ...dst } })).toBe(of({ dst }));
  });

  it('are put off by what follows from each name', () => {
    const over = { expression: '*/5 * * * *', spreadMs: 3_600_000 };
    const shared = of({ ...over, name: 'a' });
    expect(of({ ...over, name: 'b' })).toBe(shared);
    for (const name of ['a', 'b']) {
      const own = parseSchedule({ ...over, timeZone: 'UTC', seed: name }, clock.now());
      expect(spreadOf(name, shared?.spreadOverMs ?? 0)).toBe(own.spreadMs);
    }
  });

  it('differ by the values of H, and are shared if these are equal', () => {
    const names = Array.from({ length: 100 }, (_, n) => `cron-${n}`);
    const parsed = names.map((name) => of({ expression: 'H * * * *', name }));
    expect(new Set(parsed).size).toBeGreaterThan(30);
    expect(new Set(parsed).size).toBeLessThanOrEqual(60);
    names.forEach((seed, n) => {
      const own = parseSchedule({ expression: 'H * * * *', timeZone: 'UTC', seed }, clock.now());
      expect(parsed[n]?.next(clock.now())).toBe(own.next(clock.now()));
    });
  });
});

describe('a definition that this pod can not read', () => {
  it('is told, and is none', () => {
    expect(of({ name: 'bad', timeZone: 'Mars/Olympus' })).toBeNull();
    expect(of({ name: 'bad', expression: 'H H' })).toBeNull();
    expect(events.of('catalog.unreadable')).toMatchObject([
      { cron: 'bad', err: { message: expect.stringContaining('IANA') } },
      { cron: 'bad', err: { message: expect.stringContaining('cron expression') } },
    ]);
  });
});
