import { beforeEach, describe, expect, it } from 'vitest';
import { FlightStage, never, outcomeOf, quick } from './flight.stage.js';
import { NO_FENCE } from '../base/fence.js';
import { FlightTimeoutError, FlightValueError } from './flight-errors.js';
import type { FlightOptions } from './flight.js';

const MINUTE_MS = 60_000;
const OPTIONS: FlightOptions = { fresh: '1m', wait: '5s' };

let stage: FlightStage;
let clock: FlightStage['clock'];
let cache: FlightStage['cache'];
let memory: FlightStage['memory'];
let store: FlightStage['store'];
let here: FlightStage['here'];

beforeEach(() => {
  stage = new FlightStage();
  ({ clock, cache, memory, store, here } = stage);
});

describe('callers of one process', () => {
  it('share one build, and each gets a copy of its own', async () => {
    const build = stage.build();
    const calls = Array.from({ length: 20 }, () => here.get('k', OPTIONS, build.run));
    await build.end({ lines: [1] });
    const values = await Promise.all(calls);
    expect(build.times).toBe(1);
    expect(values).toEqual(Array.from({ length: 20 }, () => ({ lines: [1] })));
    expect(new Set(values).size).toBe(20);
    expect(cache.calls.filter((call) => call === 'set')).toHaveLength(1);
  });

  it('share the error, which is not cached: the next one builds again', async () => {
    const build = stage.build();
    const calls = Array.from({ length: 3 }, () => outcomeOf(here.get('k', OPTIONS, build.run)));
    const error = new Error('the report is broken');
    await build.fail(error);
    expect(await Promise.all(calls.map(({ ended }) => ended()))).toEqual([error, error, error]);
    expect(build.times).toBe(1);
    expect(await memory.get('k')).toBeNull();
    expect(await here.get('k', OPTIONS, quick('whole again'))).toBe('whole again');
  });

  it('wait each until its own deadline, and the build goes on for those who come later', async () => {
    const build = stage.build();
    const short = outcomeOf(here.get('k', { ...OPTIONS, wait: '1s' }, build.run));
    const long = outcomeOf(here.get('k', { ...OPTIONS, wait: '3s' }, build.run));
    await clock.advance(1_000);
    expect(await short.ended()).toMatchObject({ code: 'FLIGHT_TIMEOUT', key: 'k', waitedMs: 1_000 });
    expect(long.state).toBe('waiting');
    await clock.advance(2_000);
    expect(await long.ended()).toBeInstanceOf(FlightTimeoutError);
    await build.end('late, and not in vain');
    expect(await here.get('k', OPTIONS, never)).toBe('late, and not in vain');
  });
});

describe('a value', () => {
  it('is taken from the cache while it is fresh, and built when that is over', async () => {
    expect(await here.get('k', OPTIONS, quick('first'))).toBe('first');
    await clock.advance(MINUTE_MS - 1);
    expect(await here.get('k', OPTIONS, never)).toBe('first');
    await clock.advance(1);
    expect(await here.get('k', OPTIONS, quick('second'))).toBe('second');
  });

  it.each([
    ['undefined', undefined],
    ['larger than allowed', 'x'.repeat(99)],
  ])('that is %s is refused, and nothing is cached', async (_what, value) => {
    await expect(here.get('k', OPTIONS, quick(value))).rejects.toThrow(FlightValueError);
    expect(await memory.get('k')).toBeNull();
  });
});

describe('waiting', () => {
  it('ends with the last caller: nothing is asked any more', async () => {
    await store.acquire({ resource: 'flight:k', nonce: 'n', holder: 'busy/1', ttlMs: 60_000, floor: NO_FENCE });
    const calls = ['1s', '2s'].map((wait) => outcomeOf(here.get('k', { ...OPTIONS, wait }, never)));
    await clock.advance(2_000);
    for (const { ended } of calls) expect(await ended()).toBeInstanceOf(FlightTimeoutError);
    const asked = cache.calls.length;
    await clock.advance(10_000);
    expect(cache.calls).toHaveLength(asked);
    expect(clock.pending).toBe(0);
  });
});
