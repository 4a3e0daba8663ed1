import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { describe, expect, it } from 'vitest';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { SchedulerStage } from '../../../../test/support/scheduler-stage.js';
import type { Member } from '../membership/membership.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { Assignment } from './assignment.js';
import { candidates, firstOf, hashOf } from './rendezvous.js';

const PODS = ['a/1', 'b/1', 'c/1'];
const stage = new SchedulerStage();

/** One of the three pods, with so many crons in its catalog, and what its acquirer was asked for. */
function assigning(count: number) {
  const entered = new Map<string, { entry: CatalogEntry; hash: number }>();
  let looked = 0;
  const add = (name: string) => {
    const entry = stage.scheduled({ name });
    entered.set(name, { entry, hash: hashOf(name) });
    return entry;
  };
  for (let n = 0; n < count; n += 1) add(`cron-${n}`);
  const catalogCache = {
    get size() {
      return entered.size;
    },
    get: (name: string) => entered.get(name),
    *entries() {
      for (const one of entered.values()) {
        looked += 1;
        yield one;
      }
    },
  };
  const asked = { whole: 0, added: [] as string[], gone: [] as string[] };
  const acquirer = {
    want: () => {
      asked.whole += 1;
      return false;
    },
    wantChanged: (added: readonly string[], gone: readonly string[]) => {
      asked.added.push(...added);
      asked.gone.push(...gone);
    },
    handOver: () => {},
  };
  const telemetry = new Telemetry();
  const engine = { held: () => undefined };
  const assignment = new Assignment({ pod: 'a/1', catalogCache, acquirer, telemetry, engine, suspectAfterMs: 1_200 });
  let now = 0;
  const hear = (over: Partial<Record<string, number>> = {}) => {
    const members = PODS.map((pod): Member => ({ pod, sinceHeardMs: 0, ...(over[pod] && { weight: over[pod] }) }));
    now += 1_000;
    assignment.applyHeartbeat({
      now,
      catalogVersion: 1,
      members,
      overdue: [],
      lowest: { process: null, format: 3 },
      isAlone: false,
    });
  };
  const takeLooked = () => {
    const seen = looked;
    looked = 0;
    return seen;
  };
  hear();
  return {
    assignment,
    events: recordedEvents(telemetry),
    add,
    remove: (name: string) => entered.delete(name),
    asked,
    hear,
    takeLooked,
  };
}

describe('a change of the catalog', () => {
  it('among many crons costs a look at what has changed, and not at all of them', () => {
    const { assignment, add, remove, asked, takeLooked } = assigning(10_000);
    const [before, names] = [assignment.size, Array.from({ length: 30 }, (_, n) => `new-${n}`)];
    const mine = names.filter((name) => firstOf(hashOf(name), candidates(PODS)) === 'a/1');
    expect(mine.length).toBeGreaterThan(3);
    takeLooked();
    assignment.catalogChanged(names.map(add), []);
    expect([takeLooked(), asked.added, assignment.size]).toEqual([0, mine, before + mine.length]);
    for (const name of names) remove(name);
    assignment.catalogChanged([], names);
    expect([takeLooked(), asked.gone, assignment.size]).toEqual([0, mine, before]);
    expect(asked.whole).toBe(1);
  });

  it('among few crons assigns all of them, unless they are the same crons', () => {
    const { assignment, add, asked } = assigning(100);
    const { size } = assignment;
    assignment.catalogChanged([add('cron-7')], []);
    expect([asked.whole, assignment.size]).toEqual([1, size]);
    assignment.catalogChanged([add('one-more')], []);
    expect(asked.whole).toBe(2);
    expect(assignment.size).toBeLessThanOrEqual(Math.ceil((1.2 * 101) / 3));
  });
});

describe('weights', () => {
  it('count once none has changed for three seconds: pods that fall behind together keep their crons', () => {
    const { assignment, events, hear } = assigning(1_000);
    const { size } = assignment;
    hear({ 'a/1': 1 / 2 });
    hear({ 'a/1': 1 / 2, 'b/1': 1 / 2 });
    for (let n = 0; n < 5; n += 1) hear({ 'a/1': 1 / 2, 'b/1': 1 / 2, 'c/1': 1 / 2 });
    expect(assignment.size).toBe(size);
    for (let n = 0; n < 3; n += 1) hear({ 'a/1': 1 / 4, 'b/1': 1 / 2, 'c/1': 1 / 2 });
    expect(assignment.size).toBe(size);
    hear({ 'a/1': 1 / 4, 'b/1': 1 / 2, 'c/1': 1 / 2 });
    expect(assignment.size).toBeLessThan(0.7 * size);
    expect(events.of('pods.changed').at(-1)).toEqual({ pods: 3, assigned: assignment.size });
  });
});
