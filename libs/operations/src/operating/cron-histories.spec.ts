import { ManualClock } from '@fencepost/lease/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { definitionOf, entryOf, generationsOf, runAt, START } from '../../../../test/support/audit-history.js';
import { CronHistories, type FollowedCron } from './cron-histories.js';

const COUNT = 120;
const NAMES = Array.from({ length: COUNT }, (_, n) => `cron-${n}`);

let clock: ManualClock;
let asked: string[];
let away: boolean;
let listeners: Set<(entry: { cron: string | null }) => void>;
let histories: CronHistories;

const newestRuns = (names: readonly string[]) => Promise.all(names.map(runs));

async function runs(cron: string) {
  asked.push(cron);
  if (away) throw new Error('The store is away.');
  return [runAt(START, { cron, finishedAt: START + 5 })];
}

beforeEach(() => {
  [clock, asked, away, listeners] = [new ManualClock(START), [], false, new Set()];
  const subscribe = (listener: (entry: { cron: string | null }) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  histories = new CronHistories({ newestRuns, newestSkips: async (names) => names.map(() => []) }, clock, {
    subscribe,
  });
});
afterEach(() => histories.stop());

function crons(cursor: (name: string) => number | null = () => START): FollowedCron[] {
  return NAMES.map((name) => ({
    entry: { ...entryOf(generationsOf({ since: START })), definition: definitionOf({ name }) },
    record: { cursor: cursor(name) },
  }));
}

const unread = () => NAMES.filter((name) => histories.of(name) === null).length;

async function readAll(): Promise<void> {
  histories.follow(crons());
  await clock.advance(2_000);
  asked = [];
}

describe('histories', () => {
  it('are read little by little: at most 25 at once', async () => {
    histories.follow(crons());
    expect(unread()).toBe(COUNT);
    await clock.advance(100);
    expect(unread()).toBeLessThan(COUNT);
    expect(asked.length).toBeLessThanOrEqual(75);
    await clock.advance(1_000);
    expect(unread()).toBe(0);
    expect(asked).toEqual(NAMES);
  });

  it('are read again where the cursor has moved, and nowhere else', async () => {
    await readAll();
    histories.follow(crons((name) => (name === 'cron-7' ? START + 1 : START)));
    await clock.advance(1_000);
    expect(asked).toEqual(['cron-7']);
  });

  it('are read again where something happened', async () => {
    await readAll();
    for (const listener of listeners) for (const cron of ['cron-9', 'another', null]) listener({ cron });
    await clock.advance(1_000);
    expect(asked).toEqual(['cron-9']);
  });

  it('are read again where another run is the newest, or that run went on', async () => {
    await readAll();
    const newest = (cron: string, over = {}) => runAt(START, { cron, finishedAt: START + 5, ...over });
    histories.compare(newest('cron-1'));
    histories.compare(newest('cron-2', { id: 'cron-2@manual-1' }));
    histories.compare(newest('cron-3', { finishedAt: START + 9 }));
    histories.compare(newest('cron-4', { state: 'running' }));
    await clock.advance(1_000);
    expect(asked).toEqual(['cron-2', 'cron-3', 'cron-4']);
  });

  it('are read before their turn where somebody waits for them, once, and at most fifty', async () => {
    histories.follow(crons());
    await histories.readNow(crons().filter((cron) => /^cron-5[89]$/.test(cron.entry.definition.name)));
    expect(asked).toEqual(['cron-58', 'cron-59']);
    await histories.readNow(crons());
    expect(asked).toHaveLength(52);
    await clock.advance(2_000);
    expect(asked.toSorted()).toEqual(NAMES.toSorted());
  });

  it('go on after the store was away, and leave none out', async () => {
    away = true;
    histories.follow(crons());
    await clock.advance(500);
    expect(unread()).toBe(COUNT);
    away = false;
    await clock.advance(3_000);
    expect(unread()).toBe(0);
  });

  it('are not read while nobody looks, and are unknown afterwards until they are read', async () => {
    await readAll();
    await clock.advance(60_000);
    expect(listeners.size).toBe(0);
    asked = [];
    histories.follow(crons());
    expect(unread()).toBe(COUNT);
    await clock.advance(2_000);
    expect(asked.toSorted()).toEqual(NAMES.toSorted());
  });

  it('are unknown where something happened, and the store has not answered for as long as a page waits', async () => {
    await readAll();
    const told: string[] = [];
    histories.tell({ happened: () => {}, read: (cron) => void told.push(cron) });
    away = true;
    for (const listener of listeners) listener({ cron: 'cron-9' });
    await clock.advance(5_000);
    histories.follow(crons());
    expect(histories.of('cron-9')).not.toBeNull();
    await clock.advance(1);
    histories.follow(crons());
    expect([histories.of('cron-9'), unread(), told]).toEqual([null, 1, ['cron-9']]);
  });

  it('are kept of 20,000 crons at most', async () => {
    const [{ entry, record }] = crons() as [FollowedCron];
    const named = (name: string) => ({ entry: { definition: { ...entry.definition, name } }, record });
    await histories.read(Array.from({ length: 20_001 }, (_, n) => named(`cron-${n}`)));
    expect(histories.of('cron-19999')).not.toBeNull();
    expect(histories.of('cron-20000')).toBeNull();
  });

  it('of a cron that is gone are forgotten', async () => {
    await readAll();
    histories.follow(crons().slice(1));
    expect(histories.of('cron-0')).toBeNull();
    expect(histories.of('cron-1')).not.toBeNull();
  });

  it('are read at once for a program that looks once', async () => {
    await histories.read(crons());
    expect(unread()).toBe(0);
    expect(listeners.size).toBe(0);
  });

  it('are read again without events where the cursor has moved, or another run is the newest', async () => {
    const alone = new CronHistories({ newestRuns, newestSkips: async (names) => names.map(() => []) }, clock, null);
    await alone.read(crons());
    asked = [];
    await alone.read(crons((name) => (name === 'cron-7' ? START + 1 : START)));
    expect(asked).toEqual(['cron-7']);
    alone.compare(runAt(START, { cron: 'cron-2', id: 'cron-2@manual-1', finishedAt: START + 5 }));
    asked = [];
    await alone.read(crons((name) => (name === 'cron-7' ? START + 1 : START)));
    expect(asked).toEqual(['cron-2']);
  });
});
