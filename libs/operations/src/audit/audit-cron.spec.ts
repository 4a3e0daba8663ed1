import { describe, expect, it } from 'vitest';
import type { Generation } from '@fencepost/ledger/catalog';
import type { Account } from '@fencepost/ledger';
import type { Run, SkipReason, SkipRange } from '@fencepost/ledger/run';
import {
  accountOf,
  CANCELLED,
  CRON,
  generationsOf,
  HOUR,
  instantsOf,
  OVERLAPPED,
  runAt,
  SECOND,
  START,
  WAITING,
  type Change,
} from '../../../../test/support/audit-history.js';
import { auditCron } from './audit-cron.js';

const EACH_SECOND = generationsOf({ since: START });
const at = (second: number) => START + second * SECOND;
const NONE_SKIPPED = { overlap: 0, misfire: 0, merged: 0, paused: 0, superseded: 0, 'no-capable-worker': 0 };

function ran(...seconds: readonly number[]): Run[] {
  return seconds.map((second) => runAt(at(second)));
}

function skipped(reason: SkipReason, after: number, through: number): SkipRange {
  return { reason, after: at(after), through: at(through) };
}

function account(recorded: Partial<Account>): Account {
  return { runs: [], skips: [], forgotten: null, ...recorded };
}

function auditSeconds(recorded: Partial<Account>, seconds = 5) {
  return auditCron(EACH_SECOND, account(recorded), { from: START, to: at(seconds) });
}

describe('an audit of what is in order', () => {
  it('counts each instant once, by what became of it', () => {
    const runs = [...ran(1, 2), runAt(at(3), OVERLAPPED), runAt(at(4), WAITING), runAt(at(5), CANCELLED)];
    const skips = [skipped('misfire', 5, 7), skipped('merged', 7, 8), skipped('superseded', 8, 8.5)];
    expect(auditSeconds({ runs: [...runs, runAt(at(9), { reason: 'catch-up' })], skips }, 9)).toEqual({
      notCovered: [],
      instants: 9,
      ran: 3,
      cancelled: 1,
      waiting: 1,
      skipped: { ...NONE_SKIPPED, overlap: 1, misfire: 2, merged: 1 },
      missed: 0,
      doubled: 0,
      unexplained: 0,
      findings: [],
    });
  });

  it('takes a range as it is: without its beginning, and with its end', () => {
    expect(auditSeconds({ runs: ran(1, 4, 5), skips: [skipped('paused', 1, 3)] })).toMatchObject({
      ran: 3,
      skipped: { paused: 2 },
      findings: [],
    });
    expect(auditSeconds({ runs: ran(1, 4, 5), skips: [skipped('paused', 1, 2.9)] }).missed).toBe(1);
  });

  it('leaves what people asked for to them', () => {
    const manual = runAt(at(2.5), { id: `${CRON}@manual-1`, reason: 'manual' });
    const resumed = runAt(at(3.5), { id: `${CRON}@manual-2`, reason: 'catch-up' });
    const again = runAt(at(4), { id: `${CRON}@${at(4)}-r1`, reason: 'backfill' });
    const natural = runAt(at(5), { reason: 'backfill', generation: 7 });
    const runs = [...ran(1, 2, 3), runAt(at(4), OVERLAPPED), again, manual, resumed, natural];
    expect(auditSeconds({ runs, skips: [skipped('paused', 4, 5)] })).toMatchObject({
      ran: 3,
      skipped: { overlap: 1, paused: 1 },
      findings: [],
    });
  });

  it('leaves out what lies before the time and after it', () => {
    expect(auditCron(EACH_SECOND, account({ runs: ran(1, 3, 5, 6) }), { from: at(3), to: at(3) })).toMatchObject({
      instants: 1,
      findings: [],
    });
  });
});

describe('an audit finds', () => {
  it('an instant with a second scheduled run, and each more than that', () => {
    const more = [1, 2].map((n) => runAt(at(3), { id: `${CRON}@${at(3)}-r${n}` }));
    const found = auditSeconds({ runs: [...ran(1, 2, 3, 4, 5), ...more] });
    expect(found).toMatchObject({ instants: 5, ran: 5, missed: 0, doubled: 2, unexplained: 0 });
    expect(found.findings).toMatchObject([{ kind: 'doubled', instant: at(3) }]);
    expect(found.findings[0]?.text).toContain('it has 3 scheduled runs');
  });

  it('a run of a lower generation that was claimed after the catalog had counted on, and none that was claimed before', () => {
    const [lost] = generationsOf({ since: START });
    const found = (renumberedAt: number, generation: number) => {
      const counted = [{ ...lost, generation: 5, renumberedAt }] as Generation[];
      const all = [1, 2, 3].map((second) => runAt(at(second), { generation }));
      return auditCron(counted, account({ runs: all }), { from: START, to: at(3) }).unexplained;
    };
    expect(found(at(9), 4)).toBe(0);
    expect(found(at(2.5), 4)).toBe(1);
    expect(found(at(9), 6)).toBe(3);
  });

  it('no run that was claimed long before its generation was accepted: the catalog had lost what it was claimed under', () => {
    const generations = generationsOf({ since: START, expression: '*/5 * * * * *' }, { since: at(12) });
    const whole = accountOf(instantsOf(generations, at(20)));
    const found = (second: number) => {
      const [instant, claimedAt] = [at(second), at(second)];
      const runs = [...whole.runs.filter(({ scheduledAt }) => scheduledAt !== instant)];
      runs.push(runAt(instant, { generation: 2, claimedAt }));
      return auditCron(generations, { ...whole, runs }, { from: START, to: at(20) });
    };
    expect(found(5)).toMatchObject({ missed: 0, unexplained: 0, notCovered: [] });
    expect(found(7)).toMatchObject({ missed: 0, unexplained: 0, notCovered: [{ from: at(7), to: at(7) }] });
    expect(found(10)).toMatchObject({ missed: 0, unexplained: 1 });
    expect(found(11)).toMatchObject({ missed: 0, unexplained: 1, notCovered: [] });
  });

  it.each<[string, Partial<Run>, string]>([
    ['of another generation', { generation: 2 }, 'of generation 2, and the instant is of generation 1'],
    ['that is not called after its instant', { id: `${CRON}@1` }, 'is not the instant'],
    ['that is skipped for no reason', { ...OVERLAPPED, skipped: null }, 'skipped for no reason'],
    ['that ran and was skipped', { skipped: 'merged' }, 'is succeeded, and skipped (merged)'],
    ['that succeeded without an attempt', { attempt: 0 }, 'no attempt ever began'],
    ['that succeeded and never ended', { finishedAt: null }, 'never ended'],
    ['that waits and has ended', { ...WAITING, finishedAt: at(4) }, 'is enqueued, and has ended'],
  ])('a run %s', (_, over, text) => {
    const found = auditSeconds({ runs: [...ran(1, 2, 4, 5), runAt(at(3), over)] });
    expect(found).toMatchObject({ missed: 0, doubled: 0, unexplained: 1 });
    expect(found.findings).toMatchObject([{ kind: 'unexplained', instant: at(3) }]);
    expect(found.findings[0]?.text).toContain(text);
  });

  it('a run with a reserved name that the schedule claims for itself', () => {
    const found = auditSeconds({ runs: [...ran(1, 2, 3, 4, 5), runAt(at(2.5), { id: `${CRON}@manual-1` })] });
    expect(found.unexplained).toBe(1);
  });
});

/** A history in order, and what the audit says when each of its records is taken away in turn. */
function auditsOf(changes: readonly [Change, ...Change[]], to: number) {
  const generations = generationsOf(...changes);
  const instants = instantsOf(generations, to);
  const whole = accountOf(instants);
  const span = { from: changes[0].since, to };
  const withoutOne = whole.runs.map((gone) => {
    return auditCron(generations, { ...whole, runs: whole.runs.filter((run) => run !== gone) }, span);
  });
  return { instants, whole: auditCron(generations, whole, span), withoutOne };
}

describe('every instant belongs to one generation', () => {
  it.each<[string, readonly [Change, ...Change[]], { to: number; count: number }]>([
    ['a redefinition', [{ since: START }, { since: at(10), expression: '*/5 * * * * *' }], { to: at(30), count: 14 }],
    [
      'a redefinition at an instant, which stays the older one’s',
      [{ since: START }, { since: at(9) }],
      { to: at(12), count: 12 },
    ],
    ['a removal', [{ since: START }, { since: at(10), state: 'removed' }], { to: at(30), count: 10 }],
    [
      'a removal and a return',
      [{ since: START }, { since: at(5), state: 'removed' }, { since: at(20) }, { since: at(25), state: 'disabled' }],
      { to: at(40), count: 10 },
    ],
    ['a spread', [{ since: START, expression: '*/10 * * * * *', spreadMs: 9_000 }], { to: at(61), count: 5 }],
    [
      'a fixed time in the gap of Europe/Berlin',
      [{ since: Date.UTC(2026, 2, 27), expression: '30 2 * * *', timeZone: 'Europe/Berlin' }],
      { to: Date.UTC(2026, 3, 1), count: 5 },
    ],
    [
      'an hour that comes twice in Europe/Berlin',
      [{ since: Date.UTC(2026, 9, 24, 22), expression: '*/30 * * * *', timeZone: 'Europe/Berlin' }],
      { to: Date.UTC(2026, 9, 25, 22, 30), count: 49 },
    ],
  ])('through %s', (_, changes, { to, count }) => {
    const { instants, whole, withoutOne } = auditsOf(changes, to);
    expect(instants).toHaveLength(count);
    expect(whole).toMatchObject({ instants: count, ran: count, findings: [] });
    expect(withoutOne.map(({ missed, unexplained }) => [missed, unexplained])).toEqual(instants.map(() => [1, 0]));
  });

  it('with its own schedule: a run at an instant of the next generation is none of the one before', () => {
    const generations = generationsOf({ since: START, expression: '*/5 * * * * *' }, { since: at(12) });
    const whole = accountOf(instantsOf(generations, at(20)));
    const early = runAt(at(11), { generation: 2 });
    const found = auditCron(generations, { ...whole, runs: [...whole.runs, early] }, { from: START, to: at(20) });
    expect(found).toMatchObject({ missed: 0, unexplained: 1 });
  });

  it('but no instant belongs to a generation that does not fire', () => {
    const generations = generationsOf({ since: START }, { since: at(3), state: 'removed' });
    const found = auditCron(generations, account({ runs: ran(1, 2, 3, 4) }), { from: START, to: at(9) });
    expect(found).toMatchObject({ instants: 3, unexplained: 1 });
    expect(found.findings[0]?.text).toContain('the cron was removed then');
  });

  it('while instants before the oldest generation are not judged', () => {
    const before = account({ runs: [runAt(START - HOUR), ...ran(1)] });
    expect(auditCron(EACH_SECOND, before, { from: START - HOUR, to: at(1) })).toMatchObject({
      instants: 1,
      findings: [],
    });
  });
});
