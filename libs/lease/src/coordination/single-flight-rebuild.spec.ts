import { beforeEach, describe, expect, it } from 'vitest';
import { FlightStage, never, outcomeOf, quick } from './flight.stage.js';
import { NO_FENCE } from '../base/fence.js';
import { FlightTimeoutError } from './flight-errors.js';
import type { FlightOptions } from './flight.js';

const MINUTE_MS = 60_000;
const OPTIONS: FlightOptions = { fresh: '1m', wait: '5s' };
const WITH_STALE: FlightOptions = { ...OPTIONS, stale: '10m' };

let stage: FlightStage;
let clock: FlightStage['clock'];
let cache: FlightStage['cache'];
let memory: FlightStage['memory'];
let here: FlightStage['here'];
let elsewhere: FlightStage['elsewhere'];

beforeEach(() => {
  stage = new FlightStage();
  ({ clock, cache, memory, here, elsewhere } = stage);
});

describe('a stale value', () => {
  beforeEach(async () => {
    await memory.set('k', '"old"', { fence: NO_FENCE, ttlMs: 11 * MINUTE_MS });
    await clock.advance(MINUTE_MS);
  });

  it('is given at once to everybody but the one who rebuilds, here and elsewhere', async () => {
    const build = stage.build();
    const rebuilder = here.get('k', WITH_STALE, build.run);
    expect(await here.get('k', WITH_STALE, never)).toBe('old');
    expect(await elsewhere.get('k', WITH_STALE, never)).toBe('old');
    await build.end('new');
    expect(await rebuilder).toBe('new');
    expect(await elsewhere.get('k', WITH_STALE, never)).toBe('new');
    expect(build.times).toBe(1);
  });

  it('is what the rebuilder gets when its time is over, and the rebuild goes on', async () => {
    const build = stage.build();
    const rebuilder = here.get('k', WITH_STALE, build.run);
    await clock.advance(5_000);
    expect(await rebuilder).toBe('old');
    await build.end('new');
    expect(await here.get('k', WITH_STALE, never)).toBe('new');
  });

  it('is not what the rebuilder gets when it asked for an error', async () => {
    const build = stage.build();
    const rebuilder = outcomeOf(here.get('k', { ...WITH_STALE, onTimeout: 'throw' }, build.run));
    await clock.advance(5_000);
    expect(await rebuilder.ended()).toBeInstanceOf(FlightTimeoutError);
    await build.end('new');
  });

  it('survives a rebuild that fails, whose error is the rebuilder’s alone', async () => {
    const build = stage.build();
    const rebuilder = outcomeOf(here.get('k', WITH_STALE, build.run));
    await build.fail(new Error('no'));
    expect(await rebuilder.ended()).toMatchObject({ message: 'no' });
    const next = outcomeOf(elsewhere.get('k', WITH_STALE, build.run));
    await clock.advance(0);
    expect(await here.get('k', WITH_STALE, never)).toBe('old');
    await build.end('new');
    expect(await next.ended()).toBe('new');
  });
});

describe('over several processes', () => {
  it('one builds, and the others get the value as soon as it is there', async () => {
    const build = stage.build();
    const first = here.get('k', OPTIONS, build.run);
    await clock.advance(0);
    const others = [elsewhere, stage.process(), stage.process()].map((flight) =>
      outcomeOf(flight.get('k', OPTIONS, never)),
    );
    await clock.advance(3_000);
    await build.end('v');
    await clock.advance(10);
    expect(await Promise.all(others.map(({ ended }) => ended()))).toEqual(['v', 'v', 'v']);
    expect(await first).toBe('v');
  });

  it('whoever gets the lease looks again: the value may have come between its look and the lease', async () => {
    let arrive = () => {};
    const heldBack = new Promise<void>((resolve) => (arrive = resolve));
    // The caller's own look passes; that of its flight, just before it asks for the lease, arrives late.
    cache.next('get', { heldBack: Promise.resolve() }, { heldBack });
    const late = here.get('k', OPTIONS, never);
    await clock.advance(0);
    expect(await elsewhere.get('k', OPTIONS, quick('built meanwhile'))).toBe('built meanwhile');
    arrive();
    expect(await late).toBe('built meanwhile');
  });

  it('a build is written under a larger fence than the value it replaces, also when the lease store forgot', async () => {
    const ahead = (clock.now() + 3_600_000) * 1_000;
    await memory.set('k', '"from the future"', { fence: ahead as never, ttlMs: 2 * MINUTE_MS });
    await clock.advance(MINUTE_MS);
    expect(await here.get('k', WITH_STALE, quick('now'))).toBe('now');
    expect((await memory.get('k'))?.fence).toBe(ahead + 1);
  });
});
