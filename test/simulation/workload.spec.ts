import { describe, expect, it } from 'vitest';
import { ManualClock } from '@fencepost/lease/testing';
import { contentHash, definitionSet } from '@fencepost/ledger/catalog';
import { parseSchedule } from '@fencepost/schedule';
import { Telemetry } from '@fencepost/jobs';
import { Sometimes } from '../support/seeded-random.js';
import { handlers } from './handlers.js';
import { Sinks } from './sinks.js';
import { attend, BRANCHES } from './watch.js';
import { CRONS, declarations, type Program } from './workload.js';
import { shrink } from './shrink.js';
import { SimQueue, type Consumer } from './sim-queue.js';
import { runTicks, VirtualClock } from './virtual-clock.js';

describe('the workload of a simulation', () => {
  const shop = (code: number, config = 0) => ({ app: 'shop', code, config }) as const;
  const declaredBy = (program: Program) =>
    new Map(declarations(program).map((declaration) => [declaration.definition.name, declaration] as const));
  const [first, second] = [declaredBy(shop(1)), declaredBy(shop(2))];

  describe('the workload', () => {
    it('has every policy in it, a fixed time in a zone with clock changes, and intervals', () => {
      const definitions = declarations(shop(1)).map(({ definition }) => definition);
      expect(new Set(definitions.map(({ overlap }) => overlap)).size).toBe(5);
      expect(new Set(definitions.map(({ misfire }) => misfire)).size).toBe(3);
      const kinds = definitions.map((one) => parseSchedule({ ...one, seed: one.name }, 0).kind);
      expect(kinds.filter((kind) => kind === 'fixed')).toHaveLength(1);
    });

    it('changes with its second code: one cron goes, one comes, and some have another definition', () => {
      const changed = [...first].filter(
        ([name, one]) => second.has(name) && contentHash(one) !== contentHash(second.get(name)!),
      );
      expect(changed.map(([name]) => name)).toEqual(['hourly', 'half', 'dated']);
      expect([...first.keys()].filter((name) => !second.has(name))).toEqual(['leaving']);
      expect([...second.keys()].filter((name) => !first.has(name))).toEqual(['coming']);
    });

    it('has another set of definitions for each code, configuration and minute', () => {
      const minutes = Array.from({ length: 60 }, (_, minute) => ({ ...shop(1), minute }));
      const codes = Array.from({ length: 59 }, (_, n) => shop(n + 1));
      const programs = [...codes, shop(1, 1), shop(1, 2), shop(1, 3), ...minutes];
      const sets = programs.map((program) => definitionSet({ app: 'shop' }, declarations(program)).hash);
      expect(new Set(sets).size).toBe(programs.length);
    });

    it('has a name of a cron that two apps declare, in each second code of the first', () => {
      const billing = declaredBy({ app: 'billing', code: 1, config: 0 });
      expect([...billing.keys()].filter((name) => first.has(name))).toEqual(['leaving']);
      expect([...billing.keys()].filter((name) => second.has(name))).toEqual([]);
    });

    it('is carried out by the workers of the program that declares it', () => {
      for (const [code, known] of [
        [1, first],
        [2, second],
      ] as const) {
        const handlerOf = handlers(shop(code), new Sinks(), new ManualClock());
        for (const name of CRONS) expect(handlerOf(name) !== undefined).toBe(known.has(name));
      }
    });
  });

  describe('what has to happen at least once', () => {
    it('is heard of in what the processes tell', () => {
      const [sometimes, telemetry] = [new Sometimes(BRANCHES), new Telemetry()];
      const end = attend(telemetry, sometimes);
      telemetry.emit('attempt.unhandled', { cron: 'tick', runId: 'tick@1' });
      telemetry.emit('run.confirmed', { cron: 'tick', runId: 'tick@1' });
      end();
      telemetry.emit('attempt.unhandled', { cron: 'tick', runId: 'tick@1' });
      expect(sometimes.counts['attempt.unhandled']).toBe(1);
      expect(sometimes.missing()).toHaveLength(BRANCHES.length - 1);
    });
  });
});

const ITEMS = Array.from({ length: 60 }, (_, n) => n);

describe('shrinking', () => {
  it('finds the few that make it fail together', async () => {
    const fails = async (items: readonly number[]) => [3, 31, 58].every((one) => items.includes(one));
    expect(await shrink({ items: ITEMS, fails, maxTrials: 1_000 })).toEqual([3, 31, 58]);
  });

  it('gives what it has when its trials are used up, and that fails', async () => {
    let trials = 0;
    const fails = async (items: readonly number[]) => {
      trials += 1;
      return items.includes(42);
    };
    const left = await shrink({ items: ITEMS, fails, maxTrials: 3 });
    expect(trials).toBe(3);
    expect(left).toContain(42);
    expect(left.length).toBeLessThan(ITEMS.length);
  });
});

const STALLED_MS = 100;

describe('the simulated queue', () => {
  it('a job whose end nobody heard is brought again, also when the link is whole by then', async () => {
    const clock = new VirtualClock(0);
    const queue = new SimQueue({ clock, random: () => 0, soonestMs: 1, stalledMs: STALLED_MS });
    const disposition: number[] = [];
    let isHeard = false;
    const consumer: Consumer = {
      isFree: () => true,
      isHeard: () => isHeard,
      onStalled: () => {},
      deliver: async () => {
        disposition.push(clock.monotonic());
        return { kind: 'settled' };
      },
    };
    queue.join(consumer);
    await queue.enqueue([{ runId: 'nightly@1', delivery: 1 }]);
    clock.after(STALLED_MS / 2, () => (isHeard = true));
    await runTicks(() => clock.step(5 * STALLED_MS));
    expect(disposition).toEqual([0, STALLED_MS]);
    expect(await queue.holds([{ runId: 'nightly@1', delivery: 1 }])).toEqual([null]);
  });
});
