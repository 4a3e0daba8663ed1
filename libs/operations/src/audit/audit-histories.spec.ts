import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Generation } from '@fencepost/ledger/catalog';
import type { Account } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import {
  accountOf,
  FATES,
  generationsOf,
  instantsOf,
  runAt,
  SECOND,
  type Change,
} from '../../../../test/support/audit-history.js';
import { atMost } from '../../../../test/support/run-length.js';
import { auditCron } from './audit-cron.js';
import type { CronAudit } from './audit-report.js';

/** An hour before the clocks of Europe/Berlin go forward, and back. */
const BEGINNINGS = [Date.UTC(2026, 2, 29), Date.UTC(2026, 9, 25), Date.UTC(2026, 5, 1)];
const MAX_INSTANTS = 400;

const change = fc.record({
  expression: fc.constantFrom('*/20 * * * * *', '* * * * *', '*/7 * * * *', '30 2 * * *', '15 */2 * * *'),
  timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
  spreadMs: fc.constantFrom(0, 15_000),
  state: fc.constantFrom('active' as const, 'active' as const, 'disabled' as const, 'removed' as const),
  lastsMs: fc.integer({ min: 1, max: 3 * 3_600 * 1_000 }),
});

const history = fc.record({
  beginning: fc.constantFrom(...BEGINNINGS),
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  fates: fc.array(fc.constantFrom(...FATES), { minLength: 1, maxLength: 12 }),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

interface Made {
  readonly generations: readonly Generation[];
  readonly account: Account;
  readonly audit: (account: Account) => CronAudit;
}

/** Every instant accounted for, in one of the ways there are. */
function make({ beginning, changes, fates }: History): Made {
  let since = beginning;
  const dated = changes.map(({ lastsMs, ...over }): Change => {
    const from = since;
    since += lastsMs;
    return { ...over, since: from };
  });
  const generations = generationsOf(...dated);
  const to = instantsOf(generations, since)[MAX_INSTANTS]?.at ?? since;
  const account = accountOf(instantsOf(generations, to), fates);
  return { generations, account, audit: (recorded) => auditCron(generations, recorded, { from: beginning, to }) };
}

interface Corruption {
  readonly kind: 'missed' | 'doubled' | 'unexplained';
  /** `null` where the history has nothing to do it to. */
  readonly spoil: (account: Account, pick: number) => Account | null;
}

function scheduledRuns({ runs }: Account): Run[] {
  return runs.filter(({ reason }) => reason !== 'backfill');
}

/** Changes one of the scheduled runs, or puts others in its place. */
function spoilRun(others: (run: Run) => readonly Run[]): Corruption['spoil'] {
  return (account, pick) => {
    const candidates = scheduledRuns(account);
    const chosen = candidates[pick % candidates.length];
    if (!chosen) return null;
    return { ...account, runs: account.runs.flatMap((run) => (run === chosen ? others(run) : [run])) };
  };
}

const CORRUPTIONS: Readonly<Record<string, Corruption>> = {
  'a run is gone': { kind: 'missed', spoil: spoilRun(() => []) },
  'a range is gone': {
    kind: 'missed',
    spoil: ({ runs, skips, ...account }, pick) => {
      const gone = skips[pick % skips.length];
      if (!gone) return null;
      const covered = (run: Run) => run.scheduledAt > gone.after && run.scheduledAt <= gone.through;
      return { ...account, runs: runs.filter((run) => !covered(run)), skips: skips.filter((range) => range !== gone) };
    },
  },
  'a run came twice': { kind: 'doubled', spoil: spoilRun((run) => [run, { ...run, id: `${run.id}-r1` }]) },
  'a run is at no instant': {
    kind: 'unexplained',
    spoil: spoilRun((run) => [run, runAt(run.scheduledAt - SECOND / 2, { generation: run.generation })]),
  },
  'a run is of another generation': {
    kind: 'unexplained',
    // One that nobody issued: a claim long before its generation was accepted says that the catalog has lost an earlier one.
    spoil: spoilRun((run) => [{ ...run, generation: run.generation + 100 }]),
  },
  'a run is in a state that can’t be': {
    kind: 'unexplained',
    spoil: spoilRun((run) => [{ ...run, finishedAt: run.finishedAt === null ? run.scheduledAt : null }]),
  },
  'an instant that has a run is skipped too': {
    kind: 'unexplained',
    spoil: (account, pick) => {
      const runs = scheduledRuns(account);
      const at = runs[pick % runs.length]?.scheduledAt;
      if (at === undefined) return null;
      return { ...account, skips: [...account.skips, { after: at - 1, through: at, reason: 'misfire' }] };
    },
  },
};

describe('whatever happened', () => {
  it('an audit of a history that is in order finds nothing', () => {
    fc.assert(
      fc.property(history, (drawn) => {
        const { account, audit } = make(drawn);
        const { findings, instants, ran, cancelled, waiting, skipped } = audit(account);
        expect(findings).toEqual([]);
        const explained = Object.values(skipped).reduce((sum, count) => sum + count, ran + cancelled + waiting);
        expect(explained).toBe(instants);
      }),
      atMost(150),
    );
  });

  it.each(Object.entries(CORRUPTIONS))('an audit finds that %s, and nothing else', (_, { kind, spoil }) => {
    fc.assert(
      fc.property(history, fc.nat(), (drawn, pick) => {
        const { account, audit } = make(drawn);
        const spoiled = spoil(account, pick);
        fc.pre(spoiled !== null);
        const { missed, doubled, unexplained, findings } = audit(spoiled ?? account);
        expect({ missed, doubled, unexplained }).toEqual({ missed: 0, doubled: 0, unexplained: 0, [kind]: 1 });
        expect(findings).toHaveLength(1);
      }),
      atMost(60),
    );
  });
});
