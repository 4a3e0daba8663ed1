import type { Run } from '@fencepost/jobs';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { Observer, type Stores } from './observer.js';
import { tally } from './tally.js';
import { aCron, aRun, at, fence, START } from './testing/stage.js';

/** Stores that are told what to show, and what order they were read in. */
class StoresDouble implements Stores {
  runs: Run[] = [];
  reads: string[] = [];
  journalMs = 0;
  readonly clock = new ManualClock(START);

  readonly catalog = { read: () => this.#answer('catalog', { version: 1, readAt: START, entries: [aCron().entry] }) };
  readonly leases = { inspect: () => this.#answer('leases', [null]) };
  readonly sink = {
    journal: async () => {
      await this.clock.advance(this.journalMs);
      const keys = this.runs.map(({ id }) => `${id}/write`);
      return this.#answer(
        'journal',
        keys.map((idempotencyKey) => ({ row: 'row', idempotencyKey, fence: fence(1) })),
      );
    },
    turnedDown: () => this.#answer('turnedDown', { stale: 0, repeated: 0 }),
  };
  readonly ledger = {
    readCron: () =>
      this.#answer('cursor', {
        fence: fence(1),
        cursor: this.#newest()?.scheduledAt ?? null,
        generation: 1,
        refusals: 0,
        paused: null,
        droppedNotifications: null,
      }),
    runs: (_cron: string, limit: number) => this.#answer(`runs ${limit}`, this.runs.toReversed().slice(0, limit)),
    readRun: (id: string) => this.#answer('run', this.runs.find((run) => run.id === id) ?? null),
    skips: () => this.#answer('skips', []),
  };

  #newest(): Run | undefined {
    return this.runs.at(-1);
  }

  async #answer<T>(read: string, value: T): Promise<T> {
    this.reads.push(read);
    return value;
  }
}

function stage() {
  const stores = new StoresDouble();
  return { stores, observer: new Observer(stores, stores.clock) };
}

function runsUntil(seconds: number): Run[] {
  return Array.from({ length: seconds }, (_, n) => aRun(n + 1));
}

describe('an observer', () => {
  it('reads the cursor before the runs and the journal after them, so that what it lacks is really not there', async () => {
    const { stores, observer } = stage();
    await observer.look();
    const order = ['cursor', 'runs 10', 'journal'].map((read) => stores.reads.indexOf(read));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
  });

  it('reads deeply when more has happened between two looks than it reads at once', async () => {
    const { stores, observer } = stage();
    stores.runs = runsUntil(5);
    await observer.look();
    expect(stores.reads).not.toContain('runs 2000');
    stores.runs = runsUntil(40);
    await observer.look();
    expect(observer.archive.runs('pulse')).toHaveLength(40);
    stores.reads = [];
    stores.runs = runsUntil(44);
    await observer.look();
    expect(stores.reads).not.toContain('runs 2000');
  });

  it('goes on watching a run that is not among the newest any more, until it has ended', async () => {
    const { stores, observer } = stage();
    const [first, ...others] = runsUntil(30);
    stores.runs = [{ ...first!, state: 'running' }, ...others];
    await observer.look();
    stores.runs = [first!, ...others];
    await observer.look();
    expect(observer.archive.openRuns('pulse')).toEqual([]);
    stores.reads = [];
    await observer.look();
    expect(stores.reads).not.toContain('run');
  });

  it('spends at most a twentieth of its time on the journal', async () => {
    const { stores, observer } = stage();
    stores.journalMs = 100;
    await observer.look();
    await stores.clock.advance(1_900);
    await observer.look();
    expect(stores.reads.filter((read) => read === 'journal')).toHaveLength(1);
    await stores.clock.advance(200);
    await observer.look();
    expect(stores.reads.filter((read) => read === 'journal')).toHaveLength(2);
  });

  it('leaves nothing out in its last look, also not a journal it has read a moment ago', async () => {
    const { stores, observer } = stage();
    stores.journalMs = 100;
    stores.runs = runsUntil(2);
    await observer.look();
    stores.runs = runsUntil(30);
    const sight = await observer.lookDeeply();
    const counted = tally(observer.evidence(sight, at(30)));
    expect(counted).toMatchObject({ occurrences: 30, runs: 30, lost: 0, writes: 30 });
  });

  it('computes the instants itself, and so notices one that no store knows of', async () => {
    const { stores, observer } = stage();
    stores.runs = runsUntil(9).filter(({ scheduledAt }) => scheduledAt !== at(4));
    await stores.clock.advance(9_000);
    const sight = await observer.look();
    expect(tally(observer.evidence(sight, at(9)))).toMatchObject({ occurrences: 9, runs: 8, lost: 1 });
  });
});
