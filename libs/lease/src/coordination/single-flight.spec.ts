import { beforeEach, describe, expect, it } from 'vitest';
import { FlightStage, never, outcomeOf, quick } from '../../../../test/support/flight-stage.js';
import { NO_FENCE } from '../base/fence.js';
import { FlightTimeoutError, FlightValueError } from './flight-errors.js';
import type { FlightOptions } from './flight-options.js';

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

  it('leave at their own signal, and the others stay', async () => {
    const build = stage.build();
    const gone = new AbortController();
    const left = outcomeOf(here.get('k', { ...OPTIONS, signal: gone.signal }, build.run));
    const stays = here.get('k', OPTIONS, build.run);
    await clock.advance(0);
    gone.abort(new Error('the request was closed'));
    expect(await left.ended()).toBe(gone.signal.reason);
    await build.end('v');
    expect(await stays).toBe('v');
    await expect(here.get('k', { ...OPTIONS, signal: gone.signal }, never)).rejects.toBe(gone.signal.reason);
  });

  it('wait for each key for itself', async () => {
    const slow = stage.build();
    const first = here.get('a', OPTIONS, slow.run);
    expect(await here.get({ type: 'report', id: 7 }, OPTIONS, quick('b'))).toBe('b');
    await slow.end('a');
    expect(await first).toBe('a');
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

  it('null is one', async () => {
    expect(await here.get('k', OPTIONS, quick(null))).toBeNull();
    expect(await here.get('k', OPTIONS, never)).toBeNull();
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

  it('begins anew for who comes when all others have left, whatever hangs there still', async () => {
    cache.next('get', { heldBack: Promise.resolve() }, 'hang');
    const first = outcomeOf(here.get('k', { ...OPTIONS, wait: '1s' }, never));
    await clock.advance(1_000);
    expect(await first.ended()).toBeInstanceOf(FlightTimeoutError);
    const second = outcomeOf(here.get('k', OPTIONS, quick('v')));
    await clock.advance(5_000);
    expect(await second.ended()).toBe('v');
  });

  it('goes on for who comes when all others have left', async () => {
    await store.acquire({ resource: 'flight:k', nonce: 'n', holder: 'busy/1', ttlMs: 6_000, floor: NO_FENCE });
    const first = outcomeOf(here.get('k', { ...OPTIONS, wait: '1s' }, never));
    await clock.advance(1_000);
    expect(await first.ended()).toBeInstanceOf(FlightTimeoutError);
    const second = outcomeOf(here.get('k', { ...OPTIONS, wait: '10s' }, quick('v')));
    await clock.advance(6_000);
    expect(await second.ended()).toBe('v');
  });

  it('does not begin for a value that is there: a wait of 0 takes it', async () => {
    await memory.set('k', '"v"', { fence: NO_FENCE });
    expect(await here.get('k', { ...OPTIONS, wait: 0 }, never)).toBe('v');
  });
});
