import { describe, expect, it } from 'vitest';
import type { Journal, RedisJournal } from '@fencepost/operations/journal';

export type NewJournalEntry = Parameters<Journal['append']>[0][number];
type JournalLimits = NonNullable<ConstructorParameters<typeof RedisJournal>[0]['limits']>;

/** What a journal's spec has to offer, so that the contract can drive it. */
export interface JournalHarness {
  /** Empty, and nobody else's. */
  readonly journal: Journal;
  /** The same store, as another process sees it. */
  readonly elsewhere: Journal;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
  /** So much time goes by for what is kept. */
  readonly pass: (ms: number) => Promise<void>;
}

type MakeHarness = (limits: JournalLimits) => Promise<JournalHarness>;

export function happened(
  event: NewJournalEntry['event'],
  { cron = 'nightly', ...more }: Partial<NewJournalEntry> = {},
): NewJournalEntry {
  return { pod: 'pod-7/0d9f1f6e', role: 'scheduler', event, level: 'info', cron, runId: null, detail: {}, ...more };
}

/** Ordinary ones, told apart by their run. */
function numbered(count: number, event: NewJournalEntry['event'] = 'attempt.begun'): NewJournalEntry[] {
  return Array.from({ length: count }, (_, n) => happened(event, { runId: `${n}` }));
}

const runsOf = (entries: readonly NewJournalEntry[]) => entries.map(({ runId }) => runId);

/** The one suite that every journal passes. */
export function journalContract(name: string, makeHarness: MakeHarness): void {
  describe(`${name} keeps the journal contract`, () => {
    keeping(makeHarness);
    ofOneCron(makeHarness);
    reading(makeHarness);
    goingOn(makeHarness);
  });
}

function keeping(makeHarness: MakeHarness): void {
  it('gives back what was written, with an instant of the store and an id', async () => {
    const { journal, elsewhere, now } = await makeHarness({});
    const detail = {
      fence: '1787654321123456',
      error: 'a "quoted"\nline',
      lateByMs: 1.5,
      crons: ['a', 'b'],
      none: null,
    };
    const written = [
      happened('lease.lost', { level: 'warn', detail }),
      happened('pods.changed', { ...{ role: 'scheduler+worker', runId: 'nightly@1', detail: { pods: 2 } } }),
      { ...happened('catalog.read'), cron: null },
    ];
    const before = await now();
    await journal.append(written);
    const found = await elsewhere.latest({ limit: 10 });
    expect(found.toReversed()).toMatchObject(written);
    for (const { id, at } of found) {
      expect(id).toMatch(new RegExp(`^${at}-\\d+$`));
      expect(at).toBeGreaterThanOrEqual(before);
      expect(at).toBeLessThanOrEqual(await now());
    }
  });

  it('takes nothing at all', async () => {
    const { journal } = await makeHarness({});
    await journal.append([]);
    expect(await journal.latest({ limit: 10 })).toEqual([]);
    expect(await journal.head()).toBeNull();
  });

  it('keeps so many of all, and forgets the oldest', async () => {
    const { journal } = await makeHarness({ maxOverall: 5 });
    await journal.append(numbered(4));
    await journal.append(numbered(3));
    expect(runsOf(await journal.latest({ limit: 10 }))).toEqual(['2', '1', '0', '3', '2']);
  });

  it('keeps the history of a cron whose neighbours are noisy: each pushes out a share, then its own', async () => {
    const { journal } = await makeHarness({ lists: 1, maxPerList: 40, share: 4 });
    const crons = ['a', 'b', 'c', 'd'];
    await journal.append(numbered(20, 'attempt.failed'));
    for (const cron of crons) {
      await journal.append(numbered(100, 'attempt.failed').map((entry) => ({ ...entry, cron })));
    }
    // The first one finds room for 20 others beside, and each of the later ones has a share of 4.
    expect(await journal.ofCron('nightly', { limit: 100 })).toHaveLength(8);
    const left = await Promise.all(crons.map((cron) => journal.ofCron(cron, { limit: 100 })));
    expect(left.map(({ length }) => length)).toEqual([20, 4, 4, 4]);
    expect(runsOf(left[3] ?? [])).toEqual(['99', '98', '97', '96']);
  });

  it('forgets all of it when nothing has happened for long', async () => {
    const { journal, pass } = await makeHarness({ keepMs: 60_000 });
    await journal.append([happened('lease.lost')]);
    await pass(40_000);
    expect(await journal.latest({ limit: 10 })).toHaveLength(1);
    await pass(20_000);
    expect(await journal.latest({ limit: 10 })).toEqual([]);
    expect(await journal.head()).toBeNull();
  });
}

function ofOneCron(makeHarness: MakeHarness): void {
  it('tells of one cron what is notable of it, the newest first, and nothing of another', async () => {
    const { journal, elsewhere } = await makeHarness({});
    await journal.append([
      happened('lease.acquired'),
      happened('occurrence.claimed'),
      happened('attempt.failed'),
      happened('lease.lost', { cron: 'hourly' }),
      happened('store.failed', { level: 'error' }),
      { ...happened('pods.changed'), cron: null },
    ]);
    const found = await elsewhere.ofCron('nightly', { limit: 10 });
    expect(found.map(({ event }) => event)).toEqual(['attempt.failed', 'lease.acquired']);
    expect(await journal.ofCron('hourly', { limit: 10 })).toHaveLength(1);
    expect(await journal.ofCron('yearly', { limit: 10 })).toEqual([]);
  });

  it('tells of a cron what was told of many at once, unless all are named and it is none of them', async () => {
    const { journal, elsewhere } = await makeHarness({});
    const many = (crons: readonly string[], more: object) => ({
      ...happened('lease.acquired', { detail: { crons, ...more } }),
      cron: null,
    });
    await journal.append([
      many(['a', 'b'], { count: 5_000 }),
      happened('lease.lost'),
      many(['a', 'nightly'], { count: 2 }),
      many(['a', 'b'], { count: 2 }),
      many(['a', 'b', 'and 7 more'], {}),
      many(['a', 'b'], {}),
    ]);
    const found = await elsewhere.ofCron('nightly', { limit: 10 });
    const shown = found.map(({ cron, detail }) => cron ?? [detail['crons'], detail['count']]);
    expect(new Set(shown)).toEqual(
      new Set([[['a', 'b', 'and 7 more'], undefined], [['a', 'nightly'], 2], 'nightly', [['a', 'b'], 5_000]]),
    );
    // However it is cut into pages, each is there once.
    expect(new Set(found.map(({ id }) => id)).size).toBe(4);
    const paged: Awaited<ReturnType<Journal['ofCron']>> = [];
    for (let before: string | undefined; ; before = paged.at(-1)?.id) {
      const page = await elsewhere.ofCron('nightly', { limit: 1, ...(before !== undefined && { before }) });
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual(found);
  });

  it('keeps so many of each cron', async () => {
    const { journal } = await makeHarness({ maxPerCron: 3 });
    await journal.append(numbered(5, 'attempt.failed'));
    await journal.append([happened('lease.lost', { cron: 'hourly' })]);
    expect(runsOf(await journal.ofCron('nightly', { limit: 10 }))).toEqual(['4', '3', '2']);
    expect(await journal.ofCron('hourly', { limit: 10 })).toHaveLength(1);
    expect(await journal.latest({ limit: 10 })).toHaveLength(6);
  });
}

function reading(makeHarness: MakeHarness): void {
  it('is read page by page', async () => {
    const { journal } = await makeHarness({});
    await journal.append(numbered(5, 'attempt.failed'));
    for (const page of [journal.latest.bind(journal), journal.ofCron.bind(journal, 'nightly')]) {
      const first = await page({ limit: 2 });
      expect(runsOf(first)).toEqual(['4', '3']);
      const second = await page({ limit: 9, before: first[1]?.id ?? '' });
      expect(runsOf(second)).toEqual(['2', '1', '0']);
      expect(await page({ limit: 9, before: second[2]?.id ?? '' })).toEqual([]);
    }
  });

  it.each(['', 'x', '1', '1-', '-1-1', '1-1-1', `1-${'9'.repeat(30)}`, '(1-1', '+'])(
    'takes %j for no id',
    async (no) => {
      const { journal } = await makeHarness({});
      await journal.append(numbered(2));
      expect(await journal.latest({ limit: 9, before: no })).toHaveLength(2);
      expect(await journal.since(no, 9)).toEqual([]);
    },
  );
}

function goingOn(makeHarness: MakeHarness): void {
  it('goes on after what somebody knows, the oldest first', async () => {
    const { journal, elsewhere } = await makeHarness({});
    await journal.append(numbered(2));
    const head = await elsewhere.head();
    expect(head).toBe((await journal.latest({ limit: 1 }))[0]?.id);
    expect(await elsewhere.since(head, 9)).toEqual([]);
    await journal.append(numbered(4));
    const first = await elsewhere.since(head, 3);
    expect(runsOf(first)).toEqual(['0', '1', '2']);
    expect(runsOf(await elsewhere.since(first[2]?.id ?? '', 3))).toEqual(['3']);
    expect(await elsewhere.since(null, 9)).toEqual([]);
  });
}
