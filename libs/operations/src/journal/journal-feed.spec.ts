import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { Telemetry } from '@fencepost/jobs';
import { happened } from '../../../../test/contracts/journal.contract.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { JournalFeed, LOOK_AGAIN_MS, LOOK_MS, MAX_AT_A_LOOK } from './journal-feed.js';
import type { Journal, JournalEntry } from './journal.js';
import { MemoryJournal } from './memory-journal.js';

let clock: ManualClock;
let telemetry: Telemetry;
let journal: MemoryJournal;
let looks: number;
let fails: boolean;
/** An answer takes so long. */
let takesMs: number;
let feed: JournalFeed;

beforeEach(() => {
  [clock, telemetry, looks, fails, takesMs] = [new ManualClock(), new Telemetry(), 0, false, 0];
  journal = new MemoryJournal({ clock });
  feed = new JournalFeed({ journal: watched(), clock, telemetry });
});

function watched(): Journal {
  return {
    append: (entries) => journal.append(entries),
    ofCron: (cron, query) => journal.ofCron(cron, query),
    latest: (query) => journal.latest(query),
    head: () => journal.head(),
    since: async (after, limit) => {
      looks += 1;
      if (fails) throw new Error('Connection is closed.');
      const found = await journal.since(after, limit);
      if (takesMs > 0) await new Promise<void>((resolve) => void clock.after(takesMs, resolve));
      return found;
    },
  };
}

const happen = (...runs: string[]) => journal.append(runs.map((runId) => happened('attempt.begun', { runId })));

function listener() {
  const runs: (string | null)[] = [];
  return Object.assign((entry: JournalEntry) => void runs.push(entry.runId), { runs });
}

describe('the feed of the journal', () => {
  it('tells what happens from now on, once, in order', async () => {
    await happen('before');
    const hear = listener();
    feed.subscribe(hear);
    await clock.advance(0);
    expect(hear.runs).toEqual([]);
    await happen('a', 'b');
    await clock.advance(LOOK_MS);
    await happen('c');
    await clock.advance(LOOK_MS);
    await clock.advance(10 * LOOK_MS);
    expect(hear.runs).toEqual(['a', 'b', 'c']);
    await feed.stop();
  });

  it('goes on after the entry that somebody knows, however much that is', async () => {
    await happen('known');
    const known = await journal.head();
    const many = Array.from({ length: 2 * MAX_AT_A_LOOK + 3 }, (_, n) => `${n}`);
    await happen(...many);
    const hear = listener();
    feed.subscribe(hear, known);
    // No time passes: what is there already is not waited for.
    await clock.advance(0);
    expect(hear.runs).toEqual(many);
    await feed.stop();
  });

  it('asks once for all who listen, and tells each what it does not know', async () => {
    await happen('a');
    const first = await journal.head();
    await happen('b', 'c');
    const [fresh, behind] = [listener(), listener()];
    feed.subscribe(fresh);
    feed.subscribe(behind, first);
    await clock.advance(0);
    expect([fresh.runs, behind.runs, looks]).toEqual([[], ['b', 'c'], 1]);
    await happen('d');
    await clock.advance(LOOK_MS);
    expect([fresh.runs, behind.runs, looks]).toEqual([['d'], ['b', 'c', 'd'], 2]);
    await feed.stop();
  });

  it('asks nothing while nobody listens', async () => {
    await clock.advance(10 * LOOK_MS);
    expect(clock.pending).toBe(0);
    const [hear, other] = [listener(), listener()];
    const ends = [feed.subscribe(hear), feed.subscribe(other)];
    await clock.advance(LOOK_MS);
    ends[0]?.();
    await happen('a');
    await clock.advance(LOOK_MS);
    expect([hear.runs, other.runs, clock.pending]).toEqual([[], ['a'], 1]);
    ends[1]?.();
    expect(clock.pending).toBe(0);
    const before = looks;
    await clock.advance(10 * LOOK_MS);
    expect(looks).toBe(before);
  });

  it('tells nobody anything who has just ended it', async () => {
    const runs: unknown[] = [];
    const end = feed.subscribe(({ runId }) => {
      runs.push(runId);
      end();
    });
    await clock.advance(0);
    await happen('a', 'b');
    await clock.advance(10 * LOOK_MS);
    expect([runs, clock.pending]).toEqual([['a'], 0]);
  });

  it('knows within 750 ms that the store does not answer, and nothing of it while nobody listens', async () => {
    expect(feed.storeAnswers).toBeNull();
    const end = feed.subscribe(listener());
    await clock.advance(0);
    expect(feed.storeAnswers).toBe(true);
    takesMs = 60_000;
    await clock.advance(LOOK_MS + 749);
    expect(feed.storeAnswers).toBe(true);
    await clock.advance(1);
    expect(feed.storeAnswers).toBe(false);
    end();
    expect(feed.storeAnswers).toBeNull();
    feed.subscribe(listener());
    expect(feed.storeAnswers).toBeNull();
    takesMs = 0;
    await clock.advance(60_000);
    expect(feed.storeAnswers).toBe(true);
    await feed.stop();
  });

  it('goes on when the store fails, less often, and says so once', async () => {
    const events = recordedEvents(telemetry);
    const hear = listener();
    feed.subscribe(hear);
    await clock.advance(0);
    fails = true;
    await clock.advance(LOOK_MS + 3 * LOOK_AGAIN_MS);
    expect(events.of('store.failed')).toMatchObject([{ operation: 'journal.read' }]);
    expect(looks).toBe(5);
    await happen('a');
    fails = false;
    await clock.advance(LOOK_AGAIN_MS);
    expect(hear.runs).toEqual(['a']);
    await feed.stop();
  });
});
