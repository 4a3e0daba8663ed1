import { describe, expect, it } from 'vitest';
import { fencedValuesContract } from '../../../../test/contracts/fenced-values.contract.js';
import { SetupError, StaleFenceError } from '../base/errors.js';
import { parseFence } from '../base/fence.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { ManualClock } from '../testing/manual-clock.js';
import { MemoryFencedValues } from './memory-fenced-values.js';

fencedValuesContract('the memory', async () => {
  const clock = new ManualClock();
  const events: LeaseEvent[] = [];
  return {
    values: new MemoryFencedValues({ clock, downstream: 'cache', observe: (event) => void events.push(event) }),
    events,
    untilExpired: () => clock.advance(30),
    close: async () => {},
  };
});

describe('the memory of fenced values', () => {
  const OLD = parseFence('7');
  const NEW = parseFence('8');
  const opened = () => {
    const clock = new ManualClock();
    return { clock, values: new MemoryFencedValues({ clock, retention: '1m' }) };
  };

  it('tells how old a value is by its clock', async () => {
    const { clock, values } = opened();
    await values.set('k', 'v', { fence: NEW });
    await clock.advance(1_234);
    expect(await values.get('k')).toMatchObject({ ageMs: 1_234 });
    clock.jumpWall(-5_000);
    expect(await values.get('k')).toMatchObject({ ageMs: 0 });
  });

  it('knows the fence of a value without an end for ever, also when another one is admitted', async () => {
    const { clock, values } = opened();
    await values.set('k', 'v', { fence: OLD });
    await values.admit('k', NEW);
    await clock.advance(10_000_000);
    await expect(values.set('k', 'stale', { fence: OLD })).rejects.toThrow(StaleFenceError);
  });

  it('does not take a retention of nothing: a stale writer would only have to wait', () => {
    expect(() => new MemoryFencedValues({ retention: 0 })).toThrow(SetupError);
  });

  it('knows an admitted fence for the retention', async () => {
    const { clock, values } = opened();
    await values.admit('k', NEW);
    await clock.advance(59_999);
    await expect(values.admit('k', OLD)).rejects.toThrow(StaleFenceError);
    await clock.advance(1);
    await values.admit('k', OLD);
  });
});
