import { describe, expect, it } from 'vitest';
import type { Run } from '@fencepost/ledger/run';
import { entryOf, generationsOf, OVERLAPPED, runAt, SECOND, START } from '../support/audit-history.js';
import { consult } from './oracle.js';
import type { SinkSnapshot } from './sinks.js';
import { sometimesOf } from './observations.js';
import { closingLine, NEVER, type ChaosRun, type EpisodeVerdict } from './verdict.js';
import { decisionsIn, wayOf, type Decision } from './decisions.js';
import type { RecordedCall } from './recording.js';

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
});

function closing(episodes: readonly EpisodeVerdict[], faults: ChaosRun['faults'] = { sigkill: 3 }) {
  return closingLine({ seed: 7, ledger: 'redis', faults, processFaults: 3, maxStallMs: 3_000, episodes });
}

describe('the closing line', () => {
  const SEEN = Object.fromEntries(sometimesOf('redis').map((name) => [name, 1]));

  function episode(over: Partial<EpisodeVerdict> = {}): EpisodeVerdict {
    const zero = Object.fromEntries(NEVER.map((name) => [name, 0])) as Record<(typeof NEVER)[number], number>;
    const counts = {
      ...{ occurrences: 10, uncertain: 1, controlDuplicates: 2, histories: 5, undecided: 0 },
      ...{ changes: 3, untoldChanges: 0 },
    };
    return { topology: 'single', ...zero, ...counts, longestStallMs: 0, seen: SEEN, findings: [], ...over };
  }

  it('is ok when nothing happened that must not, and everything that has to', () => {
    expect(closing([episode()])).toMatchObject({ ok: true, seed: 7, occurrences: 10, never: [] });
  });

  it.each(NEVER)('is not ok with one %s', (name) => {
    expect(closing([episode(), episode({ [name]: 1 })])).toMatchObject({ ok: false, [name]: 1 });
  });

  it('is not ok when nothing happened twice that nothing protects', () => {
    expect(closing([episode({ controlDuplicates: 0 })]).ok).toBe(false);
  });

  it('is not ok when a fault never struck, or a branch was never taken, and names it', () => {
    expect(closing([episode()], { sigkill: 3, 'redis-frozen': 0 })).toMatchObject({
      ok: false,
      never: ['redis-frozen'],
    });
    expect(closing([episode({ seen: { ...SEEN, takeover: 0 } })])).toMatchObject({ ok: false, never: ['takeover'] });
  });

  it('is not ok when a cron stood still for longer than its form allows after all was healed', () => {
    const [short, long] = [episode({ longestStallMs: 3_000 }), episode({ longestStallMs: 3_001 })];
    expect(closing([short, episode()])).toMatchObject({ ok: true, longestStallMs: 3_000 });
    expect(closing([short, long])).toMatchObject({ ok: false, longestStallMs: 3_001 });
  });

  it('adds its episodes up, and says of which one a finding is', () => {
    const second = episode({ topology: 'sentinel', findings: ['x is missed'] });
    expect(closing([episode(), second])).toMatchObject({
      ...{
        occurrences: 20,
        controlDuplicates: 4,
        topologies: ['single', 'sentinel'],
        findings: ['sentinel: x is missed'],
      },
      seen: { takeover: 2 },
    });
  });
});

function decision(after: number | null, through: number, over: Partial<Decision> = {}): Decision {
  const moment = { process: 'a', calledAt: through, cron: 'tick', generation: 1 };
  return { ...moment, after, through, occurrence: through, skips: [], sure: true, ...over };
}

function claim(verdict: string | undefined, over: object = {}): RecordedCall {
  const request = { cron: 'tick', generation: 1, cursor: 1, occurrence: { scheduledAt: 2 }, skips: [], ...over };
  const output = verdict === undefined ? undefined : { verdict };
  return { process: 'a', op: 'claim', input: [request], output, calledAt: 5, returnedAt: 6 };
}

const steps = (way: readonly Decision[]) => way.map(({ after, through }) => `${after}-${through}`);

describe('the decisions of the oracle', () => {
  it('are the claims that moved a cursor, and those of which nobody heard', () => {
    const calls = ['claimed', 'skipped', 'recorded', 'stale', 'moved', 'stale-definition', 'early', undefined].map(
      (verdict) => claim(verdict),
    );
    expect(decisionsIn(calls).map(({ sure }) => sure)).toEqual([true, true, true, false]);
  });

  it('that only leave instants out lead to the last of these', () => {
    const skips = [{ after: 1, through: 9, reason: 'misfire' }];
    expect(decisionsIn([claim('recorded', { occurrence: null, skips })])).toMatchObject([{ through: 9 }]);
  });
});

describe('the way of a cursor', () => {
  it('leads over claims of which nobody heard where it has to, and over no others', () => {
    const lost = { sure: false };
    const decisions = [
      decision(null, 1),
      decision(1, 2, lost),
      decision(1, 3, lost),
      decision(2, 4),
      decision(4, 9, lost),
    ];
    expect(steps(wayOf(decisions, 4))).toEqual(['null-1', '1-2', '2-4']);
    expect(steps(wayOf(decisions, 9))).toEqual(['null-1', '1-2', '2-4', '4-9']);
  });

  it('goes once over a claim that was sent twice', () => {
    expect(steps(wayOf([decision(null, 1), decision(null, 1)], 1))).toEqual(['null-1']);
  });
});
