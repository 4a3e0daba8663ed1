import { describe, expect, it } from 'vitest';
import type { Run } from '@fencepost/ledger/run';
import { entryOf, generationsOf, OVERLAPPED, runAt, SECOND, START, WAITING } from '../support/audit-history.js';
import { consult } from './oracle.js';
import type { SinkSnapshot } from './sinks.js';

const CRON = 'chaos-fenced';
const at = (second: number) => START + second * SECOND;
const id = (second: number, cron = CRON) => `${cron}@${at(second)}`;
const acted = (second: number, fence = second) => ({ run: id(second), key: `${id(second)}/write`, fence, row: CRON });

const NOTHING: SinkSnapshot = {
  ...{ fenced: [], keyed: [], asked: [], control: [], booked: null },
  turnedDown: { stale: 0, repeated: 0 },
};

function ran(second: number, over: Partial<Run> = {}): Run {
  return runAt(at(second), { cron: CRON, ...over });
}

/** Two instants, of which both ran and acted, but for what is said. */
function consulted(snapshot: Partial<SinkSnapshot> = {}, runs: readonly Run[] = [ran(1), ran(2)]) {
  const entry = entryOf(generationsOf({ since: START, name: CRON }));
  const seen = { ...NOTHING, fenced: [acted(1), acted(2)], ...snapshot };
  return consult({ accounts: [{ entry, runs, skips: [] }], snapshot: seen, end: at(2) });
}

describe('the oracle', () => {
  it('finds nothing where each instant has acted once', () => {
    expect(consulted()).toEqual({
      ...{ occurrences: 2, missed: [], doubled: [], unexplained: [] },
      ...{ staleAccepted: 0, transactionalDuplicates: 0, askRepeated: 0, controlDuplicates: 0 },
    });
  });

  it('misses an instant that the ledger knows nothing of', () => {
    expect(consulted({ fenced: [acted(2)] }, [ran(2)])).toMatchObject({ occurrences: 2, missed: [id(1)] });
  });

  it('misses an effect that succeeded for the ledger and never reached its sink', () => {
    expect(consulted({ fenced: [acted(1)] })).toMatchObject({ missed: [id(2)] });
  });

  it('takes a recorded reason for an answer, for one instant or for many', () => {
    expect(consulted({ fenced: [acted(2)] }, [ran(1, OVERLAPPED), ran(2)])).toMatchObject({ missed: [] });
    const entry = entryOf(generationsOf({ since: START, name: CRON }));
    const skips = [{ after: at(0), through: at(1), reason: 'merged' as const }];
    const account = { entry, runs: [ran(2)], skips };
    expect(consult({ accounts: [account], snapshot: { ...NOTHING, fenced: [acted(2)] }, end: at(2) }).missed).toEqual(
      [],
    );
  });

  it('sees an effect that acted twice', () => {
    expect(consulted({ fenced: [acted(1), acted(2), acted(2)] })).toMatchObject({ doubled: [`${id(2)}/write`] });
  });

  it('sees a write that was taken under a lower fence than the row had', () => {
    expect(consulted({ fenced: [acted(1, 9), acted(2, 8)] })).toMatchObject({ staleAccepted: 1 });
    expect(consulted({ fenced: [acted(1, 9), { ...acted(2, 8), row: 'another' }] })).toMatchObject({
      staleAccepted: 0,
    });
  });

  it('sees a row that a transaction has left twice', () => {
    expect(consulted({ booked: [id(1), id(2), id(2)] })).toMatchObject({ transactionalDuplicates: 1 });
  });

  it('sees that what a person is asked about was done again without their word', () => {
    const [act, done, notDone] = (['act', 'done', 'not-done'] as const).map((what) => ({ run: id(1), what }));
    const repeated = (...asked: readonly (typeof act)[]) =>
      consulted({ asked: asked as SinkSnapshot['asked'] }).askRepeated;
    expect(repeated(act)).toBe(0);
    expect(repeated(notDone, act)).toBe(0);
    expect(repeated(act, notDone, act)).toBe(0);
    expect(repeated(act, act)).toBe(1);
    expect(repeated(act, done, act)).toBe(1);
    expect(repeated(notDone, act, act, act)).toBe(1);
  });

  it('counts how often the control was repeated', () => {
    expect(consulted({ control: [id(1), id(2), id(2), id(2)] })).toMatchObject({ controlDuplicates: 2 });
  });

  it('asks why something acted that never ran, and why a run failed', () => {
    expect(consulted({}, [ran(1), ran(2, OVERLAPPED)]).unexplained).toEqual([expect.stringContaining('is skipped')]);
    expect(consulted({}, [ran(1), ran(2, WAITING)]).unexplained).toEqual([]);
    expect(consulted({ fenced: [acted(1), acted(2), acted(3)] }).unexplained).toEqual([
      expect.stringContaining('no such run'),
    ]);
    const failed = ran(2, { state: 'failed', error: 'no more' });
    expect(consulted({}, [ran(1), failed]).unexplained).toEqual([expect.stringContaining('failed: no more')]);
  });
});
