import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '@fencepost/lease/testing';
import type { Declaration } from '@fencepost/ledger/catalog';
import { MemoryCatalog } from '@fencepost/ledger/memory';
import { flaky } from '../../../../test/support/flaky.js';
import { recordedEvents, type RecordedEvents } from '../../../../test/support/recorded.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { Declarer } from './declarer.js';

const BUILD = { seq: 7, source: 'shop' };
const ANA = { by: 'ana', reason: null };
const HALF_HOUR_MS = 30 * 60_000;

function cron(name: string, expression = '0 3 * * *'): Declaration {
  const policies = { misfire: 'fire-once', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  return { definition: { name, expression, timeZone: 'UTC', ...policies }, disabled: false };
}

describe('a declarer', () => {
  const clock = new ManualClock();
  let memory: MemoryCatalog;
  let catalog: ReturnType<typeof flaky<MemoryCatalog>>;
  let declarer: Declarer;
  let events: RecordedEvents;

  const declarations = () => catalog.calls.filter((call) => call === 'declare').length;

  beforeEach(async () => {
    memory = new MemoryCatalog(clock);
    catalog = flaky(memory);
    const telemetry = new Telemetry();
    events = recordedEvents(telemetry);
    const membership = { lowestFormat: async () => ({ format: 3, process: null }) };
    const own = new Map(['a', 'b'].map((name) => [name, cron(name)]));
    declarer = new Declarer({ catalog: catalog.port, membership, clock, telemetry }, own, BUILD);
    await declarer.declare();
    // What it wrote itself is looked at once more.
    await declarer.repeat();
    catalog.calls.splice(0);
  });

  it('makes one call, and declares nothing, while the catalog has what was declared', async () => {
    await declarer.repeat();
    await declarer.repeat();
    expect(catalog.calls).toEqual(['since', 'since']);
  });

  it('declares nothing after a change of crons of others', async () => {
    await memory.put(cron('c'), { ...ANA, expected: null });
    await declarer.repeat();
    await declarer.repeat();
    expect(declarations()).toBe(0);
  });

  it('declares again after a change of one of its own, once', async () => {
    await memory.put(cron('a', '0 4 * * *'), { ...ANA, expected: 1 });
    await declarer.repeat();
    await declarer.repeat();
    await declarer.repeat();
    expect(declarations()).toBe(1);
  });

  it('declares again when the catalog was lost', async () => {
    memory.wipe();
    await declarer.repeat();
    expect((await memory.read()).entries.map(({ definition }) => definition.name)).toEqual(['a', 'b']);
    expect(events.of('catalog.redeclared')).toMatchObject([{ crons: ['a', 'b'] }]);
  });

  it('declares again after half an hour: what a person removed stays removed for as long as it is declared', async () => {
    await clock.advance(HALF_HOUR_MS - 1);
    await declarer.repeat();
    expect(declarations()).toBe(0);
    await clock.advance(1);
    await declarer.repeat();
    expect(declarations()).toBe(1);
  });

  it('declares again when it is told that what it held back may be written', async () => {
    declarer.forget();
    await declarer.repeat();
    expect(declarations()).toBe(1);
  });
});
