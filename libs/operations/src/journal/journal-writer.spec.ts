import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { Telemetry } from '@fencepost/jobs';
import { recordedEvents } from '../../../../test/support/recorded.js';
import {
  JournalWriter,
  MAX_AT_ONCE,
  MAX_WAITING,
  ORDINARY_PER_SECOND,
  REST_MS,
  TELL_DROPPED_MS,
  WRITE_MS,
} from './journal-writer.js';
import type { NewJournalEntry } from './journal.js';
import { MemoryJournal } from './memory-journal.js';

const UUID = '0d9f1f6e-3c55-4f7b-9d0a-0a4c6c6b9a11';
const fence = parseFence('1787654321123456');

let clock: ManualClock;
let telemetry: Telemetry;
let journal: MemoryJournal;
let batches: number[];
/** What becomes of a batch; the journal takes it when nothing is thrown. */
let fate: () => Promise<void>;
let writer: JournalWriter;

beforeEach(() => {
  [clock, telemetry, batches, fate] = [new ManualClock(), new Telemetry(), [], async () => {}];
  journal = new MemoryJournal({ clock });
  writer = writerOf(['scheduler']);
  writer.start();
});

function writerOf(roles: readonly string[]): JournalWriter {
  const append = async (entries: readonly NewJournalEntry[]) => {
    batches.push(entries.length);
    await fate();
    await journal.append(entries);
  };
  const into = { append, ofCron: () => none(), latest: () => none(), since: () => none(), head: async () => null };
  return new JournalWriter({ journal: into, telemetry, clock, pod: `pod-7/${UUID}`, roles });
}

const none = async () => [];
const written = (limit = 1_000) => journal.latest({ limit });
const eventsWritten = async () => (await written()).map(({ event }) => event).toReversed();
const lost = (cron = 'nightly') =>
  telemetry.emit('lease.lost', { cron, fence, holder: `pod-7/${UUID}`, cause: 'it could not be renewed in time' });
const begun = (runId = 'nightly@1') =>
  telemetry.emit('attempt.begun', { cron: 'nightly', runId, attempt: 1, fence, lateByMs: 5, worker: `pod-8/${UUID}` });
const failed = () => Promise.reject(new Error('Command timed out'));

describe('what a pod writes into the journal', () => {
  it('says who, what, of which cron and run, and what the event carries as logs show it', async () => {
    writer = writerOf(['scheduler', 'worker']);
    writer.start();
    lost();
    begun();
    await clock.advance(WRITE_MS);
    const by = { pod: 'pod-7/0d9f1f6e', role: 'scheduler+worker', cron: 'nightly' };
    expect((await written()).filter(({ role }) => role === by.role)).toMatchObject([
      {
        ...{ ...by, event: 'attempt.begun', level: 'info', runId: 'nightly@1' },
        detail: { attempt: 1, fence: '1787654321123456', lateByMs: 5, worker: 'pod-8/0d9f1f6e' },
      },
      {
        ...{ ...by, event: 'lease.lost', level: 'warn', runId: null },
        detail: { fence: '1787654321123456', holder: 'pod-7/0d9f1f6e', cause: 'it could not be renewed in time' },
      },
    ]);
  });

  it('has no secret, and is short', async () => {
    const text = `connect redis://anna:secret-1@there failed ${'x'.repeat(9_000)}`;
    telemetry.emit('catalog.unreadable', { cron: 'nightly', err: new Error(text) });
    telemetry.emit('store.warning', { code: 'EVICTION', found: 'redis://anna:secret-1@there evicts keys' });
    const crons = Array.from({ length: 5_000 }, (_, n) => `cron-${n}`);
    telemetry.emit('catalog.removed', { app: 'shop', revision: 1, crons, count: 5_000, removeAfterMs: 300_000 });
    await clock.advance(WRITE_MS);
    const kept = JSON.stringify(await written());
    expect(kept).not.toContain('secret-1');
    expect(kept).toContain('"cron-19","and 4980 more"');
    expect(kept.length).toBeLessThan(2_000);
  });

  it('has at most two kilobytes of detail, whatever an event carries', async () => {
    const crons = Array.from({ length: 20 }, (_, n) => `${n}-${'x'.repeat(97)}`);
    const about = { app: 'y'.repeat(214), revision: 1, count: 20, removeAfterMs: 300_000 };
    telemetry.emit('catalog.removed', { ...about, crons });
    telemetry.emit('catalog.removed', { ...about, crons: [...crons, 'one', 'two'] });
    await clock.advance(WRITE_MS);
    for (const [index, { detail }] of (await written()).toReversed().entries()) {
      const kept = detail['crons'] as string[];
      expect([kept[0], kept.at(-1)]).toEqual([crons[0], `and ${20 + 2 * index - (kept.length - 1)} more`]);
      expect(kept.length).toBeGreaterThan(10);
      expect(detail).toMatchObject(about);
      expect(JSON.stringify(detail).length).toBeLessThan(2_100);
    }
  });

  it('is everything that is notable, what is ordinary up to so much in a second, and no debugging', async () => {
    telemetry.emit('run.confirmed', { cron: 'nightly', runId: 'nightly@1' });
    for (let n = 0; n < ORDINARY_PER_SECOND + 30; n += 1) begun();
    for (let n = 0; n < 100; n += 1) lost();
    await clock.advance(WRITE_MS);
    const events = await eventsWritten();
    expect(events.filter((event) => event === 'attempt.begun')).toHaveLength(ORDINARY_PER_SECOND);
    expect(events.filter((event) => event === 'lease.lost')).toHaveLength(100);
    expect(events).not.toContain('run.confirmed');
    await clock.advance(1_000);
    begun('the next second');
    await clock.advance(WRITE_MS);
    expect((await written())[0]?.runId).toBe('the next second');
  });

  it('keeps what an order or a policy has ended as it keeps a warning, at the level of the log', async () => {
    const about = { cron: 'nightly', runId: 'nightly@1', attempt: 1, fence };
    const cause = 'RunCancelledError: Run "nightly@1" was cancelled while running.';
    for (let n = 0; n < ORDINARY_PER_SECOND; n += 1) begun();
    telemetry.emit('attempt.aborted', { ...about, cause });
    telemetry.emit('attempt.cancelled', { ...about, err: new Error('stopped') });
    telemetry.emit('occurrence.skipped', { cron: 'nightly', scheduledAt: 1, reason: 'paused' });
    telemetry.emit('occurrence.passed', { cron: 'nightly', after: 0, through: 1_000, reason: 'merged' });
    await clock.advance(WRITE_MS);
    const kept = await journal.ofCron('nightly', { limit: 100 });
    expect(kept.map(({ event, level }) => [event, level])).toEqual([
      ['occurrence.passed', 'info'],
      ['occurrence.skipped', 'info'],
      ['attempt.cancelled', 'info'],
      ['attempt.aborted', 'info'],
    ]);
  });

  it('writes an error that can not be read, and what came with it', async () => {
    const err = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('not readable');
      },
    });
    telemetry.emit('catalog.unreadable', { cron: 'nightly', err });
    lost();
    await clock.advance(WRITE_MS);
    expect(await eventsWritten()).toEqual(['catalog.unreadable', 'lease.lost']);
  });

  it('does not spell out each failure of a dead store', async () => {
    for (let n = 0; n < 500; n += 1)
      telemetry.emit('store.failed', {
        operation: 'cron.sweep',
        cron: `cron-${n}`,
        err: new Error('Connection is closed.'),
      });
    await clock.advance(WRITE_MS);
    expect(await eventsWritten()).toEqual([...Array<string>(ORDINARY_PER_SECOND).fill('store.failed')]);
  });

  it('says how much is missing, now and then', async () => {
    for (let n = 0; n < ORDINARY_PER_SECOND + 30; n += 1) begun();
    await clock.advance(2 * WRITE_MS);
    const [first] = await written();
    expect(first).toMatchObject({ event: 'journal.dropped', cron: null, detail: { count: 30 } });
    for (let n = 0; n < ORDINARY_PER_SECOND + 7; n += 1) begun();
    await clock.advance(2 * WRITE_MS);
    expect((await eventsWritten()).filter((event) => event === 'journal.dropped')).toHaveLength(1);
    await clock.advance(TELL_DROPPED_MS);
    for (let n = 0; n < 2; n += 1) begun();
    await clock.advance(2 * WRITE_MS);
    const counts = (await written()).flatMap(({ event, detail }) =>
      event === 'journal.dropped' ? detail['count'] : [],
    );
    expect(counts[0]).toBeGreaterThanOrEqual(7);
    expect(counts).toHaveLength(2);
  });
});

describe('the way into the journal', () => {
  it('is taken a tenth of a second later, by all together, and has no timer when there is nothing', async () => {
    expect(clock.pending).toBe(0);
    lost();
    lost();
    expect([batches, clock.pending]).toEqual([[], 1]);
    await clock.advance(WRITE_MS - 1);
    expect(batches).toEqual([]);
    await clock.advance(1);
    expect([batches, clock.pending]).toEqual([[2], 0]);
  });

  it('is taken by a bounded number at once, and by one batch at a time', async () => {
    let release = () => {};
    fate = () => new Promise((resolve) => void (release = resolve));
    for (let n = 0; n < MAX_AT_ONCE + 3; n += 1) lost();
    await clock.advance(WRITE_MS);
    lost();
    await clock.advance(10 * WRITE_MS);
    expect(batches).toEqual([MAX_AT_ONCE]);
    [fate] = [async () => {}, release()];
    await clock.advance(WRITE_MS);
    expect(batches).toEqual([MAX_AT_ONCE, 4]);
    expect(await written()).toHaveLength(MAX_AT_ONCE + 4);
  });

  it('holds a bounded number while a store does not answer, and tells how many that has cost', async () => {
    fate = () => new Promise(() => {});
    lost();
    await clock.advance(WRITE_MS);
    for (let n = 0; n < MAX_WAITING + 1_000; n += 1) lost();
    let kept = 0;
    const held = writerOf(['worker']);
    held.start();
    fate = async () => void (kept = kept + (batches.at(-1) ?? 0));
    for (let n = 0; n < MAX_WAITING + 1_000; n += 1) lost();
    await clock.advance((MAX_WAITING / MAX_AT_ONCE) * WRITE_MS + 2 * WRITE_MS);
    // And the word about those that were not.
    expect(kept).toBe(MAX_WAITING + 1);
    expect((await written(1))[0]).toMatchObject({ event: 'journal.dropped', detail: { count: 1_000 } });
  });

  it('is left alone for a while after a store has failed, which is told once', async () => {
    const events = recordedEvents(telemetry);
    fate = failed;
    lost('one');
    await clock.advance(WRITE_MS);
    lost('two');
    await clock.advance(REST_MS - 1);
    expect(batches).toEqual([1]);
    await clock.advance(REST_MS);
    expect(batches.length).toBeGreaterThan(1);
    expect(events.of('store.failed')).toEqual([{ operation: 'journal.append', err: new Error('Command timed out') }]);
    fate = async () => {};
    lost('three');
    await clock.advance(2 * REST_MS);
    expect((await written()).map(({ cron }) => cron)).not.toContain('one');
    expect((await written()).map(({ cron }) => cron)).toContain('three');
    fate = failed;
    lost();
    await clock.advance(WRITE_MS);
    expect(events.of('store.failed')).toHaveLength(2);
  });

  it('ends with the last words, and with nothing that stays', async () => {
    for (let n = 0; n < MAX_AT_ONCE + 1; n += 1) lost();
    await writer.stop();
    expect(await written()).toHaveLength(MAX_AT_ONCE + 1);
    expect(clock.pending).toBe(0);
    lost();
    await clock.advance(10 * WRITE_MS);
    expect(await written()).toHaveLength(MAX_AT_ONCE + 1);
    expect(clock.pending).toBe(0);
  });
});
