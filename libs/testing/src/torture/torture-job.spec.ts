import { AsyncLocalStorage } from 'node:async_hooks';
import 'reflect-metadata';
import { describe, expect, it, vi } from 'vitest';
import { JobHandler, SingletonCron } from '@fencepost/jobs';
import type { EffectContext, IfUnknown, JobHandlerOptions, RunContext, TransactionalRunContext } from '@fencepost/jobs';
import { isLong } from '../../../../test/support/run-length.js';
import { tortureJob, type TortureOptions } from './torture-job.js';

type Handler = (run: TransactionalRunContext) => unknown;
type Rest = Partial<TortureOptions> & { readonly declared?: JobHandlerOptions<never> };

/** What each fail point alone shows of a handler. */
function torture(handler: Handler, { declared = {}, ...rest }: Rest = {}) {
  class Tortured {
    @JobHandler('job', { ...declared, transactions: true })
    execute(run: TransactionalRunContext): unknown {
      return handler(run);
    }
  }
  return tortureJob({ crons: () => [new Tortured()], job: 'job', lasts: '100s', rounds: 0, ...rest });
}

async function verdictOn(handler: Handler, rest?: Rest) {
  const { effects, ...report } = await torture(handler, rest);
  expect(effects).toHaveLength(1);
  return { ...effects[0]!, report };
}

const act = () => 1;
/** Of several mishaps in one run. */
const ROUNDS = isLong ? 5 : 2;

describe('an effect under torture is safe', () => {
  it.each<[string, (context: EffectContext, run: TransactionalRunContext) => unknown, RegExp]>([
    ['that takes its key', ({ idempotencyKey }) => idempotencyKey, /idempotencyKey/],
    ['that takes the id of its run', (_, run) => run.id, /idempotencyKey/],
    ['that takes its fence', ({ fence }) => fence, /fence/],
  ])('%s, however often it came through', async (_, take, why) => {
    const effect = await verdictOn((run) => run.effect('charge', (context) => take(context, run)));
    expect(effect).toMatchObject({ safe: true, only: null, reasons: [expect.stringMatching(why)] });
    expect(effect.most).toBeGreaterThan(1);
    expect(effect.report.ok).toBe(true);
  });

  it('that is asked about, by its own policy or that of its job', async () => {
    const own = await verdictOn((run) => run.effect('charge', act, { ifUnknown: 'ask' }));
    const job = await verdictOn((run) => run.effect('charge', act), { declared: { criticality: 'correctness' } });
    const asked = { safe: true, most: 1, reasons: [expect.stringContaining('a person is asked')] };
    expect([own, job]).toMatchObject([asked, asked]);
  });

  it('whose lookup tells the truth', async () => {
    const charged = new Set<string>();
    const effect = await verdictOn((run) => {
      const key = `${run.id}/charge`;
      const charge = ({ signal }: EffectContext) => {
        signal.throwIfAborted();
        charged.add(key);
      };
      const ifUnknown: IfUnknown<void> = (about) =>
        charged.has(about.idempotencyKey) ? { done: undefined } : 'not-done';
      return run.effect('charge', charge, { ifUnknown });
    });
    expect(effect).toMatchObject({ safe: true, most: 1 });
  });

  it('that is a transaction', async () => {
    const effect = await verdictOn((run) => run.transaction((tx) => tx.query({ text: 'select', values: [] })));
    expect(effect).toMatchObject({ safe: true, most: 1, kind: 'transaction' });
    expect(effect.report.notes.join()).toContain('no database');
  });

  it('that is said to change nothing', async () => {
    const effect = await verdictOn((run) => run.effect('render', act), { harmless: ['render'] });
    expect(effect).toMatchObject({ safe: true, most: 2, reasons: [expect.stringContaining('said to change nothing')] });
  });

  it('of many items whose keys stay, and whose list gets shorter', async () => {
    const done = new Set<string>();
    const effect = await verdictOn((run) => {
      const items = ['a', 'b', 'c'].filter((item) => !done.has(item) || run.attempt === 1);
      return run.forEach(items, String, (item, { fence }) => void done.add(`${item}${fence}`), { batchSize: 1 });
    });
    expect(effect).toMatchObject({ safe: true, kind: 'items' });
  });
});

describe('an effect under torture is not safe', { timeout: 120_000 }, () => {
  it.each<[string, Handler, RegExp]>([
    ['that is called again and looks at nothing', (run) => run.effect('x', act), /^Called 2 times .*ifUnknown: 'ask'/],
    ['whose items are called again', (run) => run.forEach(['a'], String, act), /^Called 2 times/],
    [
      'whose lookup denies what has happened',
      (run) => run.effect('x', act, { ifUnknown: () => 'not-done' }),
      /^Its lookup said 'not-done', and it came through \d+ times/,
    ],
    [
      'whose name changes',
      (run) => run.effect(`x-${Date.now()}`, act, { ifUnknown: 'ask' }),
      /^Another attempt .* called it "x-18/,
    ],
    [
      'whose payload changes',
      (run) => run.effect('x', ({ idempotencyKey }) => idempotencyKey, { payload: Math.random() }),
      /^Another attempt .* another payload/,
    ],
    [
      'whose name another one has',
      async (run) => {
        await run.effect('x', act, { ifUnknown: 'ask' });
        await run.effect('x', act, { ifUnknown: 'ask' }).catch(() => 0);
      },
      /^Two effects of one attempt have this name/,
    ],
    [
      'whose items have the time as their key',
      (run) =>
        run.forEach(
          ['a'],
          (item) => `${item}${Date.now()}`,
          (_, { fence }) => fence,
        ),
      /^Items have other keys/,
    ],
    [
      'whose items are made anew',
      (run) => run.forEach([Math.random(), Math.random()], String, (_, { fence }) => fence),
      /^Items have other keys/,
    ],
    [
      'whose refusal the handler swallows',
      (run) => run.effect('x', act, { ifUnknown: 'ask' }).catch(() => 0),
      /^The handler let it fail with \w+Error and returned/,
    ],
  ])('%s', async (_, handler, why) => {
    const effect = await verdictOn(handler);
    expect(effect).toMatchObject({ safe: false, reasons: [expect.stringMatching(why)] });
    expect(effect.report.ok).toBe(false);
  });

  it('that goes on after its attempt was over, beside that of another one', async () => {
    const wait = async () => {
      for (let turn = 0; turn < 9; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const careless = await verdictOn((run) => run.effect('x', wait));
    expect(careless.reasons).toContainEqual(expect.stringContaining('went on after its attempt was over'));
    const checking = await verdictOn((run) => run.effect('x', ({ signal }) => wait().then(() => signal.aborted)));
    expect(checking.reasons).toEqual([expect.stringMatching(/^Called 2 times/)]);
  });
});

describe('a torture', { timeout: 120_000 }, () => {
  it('says the same again for the same seed', async () => {
    const handler: Handler = async (run) => {
      if (isLong) await run.effect('x', act);
      await run.effect(`mail-${Math.random()}`, ({ idempotencyKey }) => idempotencyKey);
    };
    const once = await torture(handler, { seed: 7, rounds: ROUNDS });
    expect(await torture(handler, { seed: 7, rounds: ROUNDS })).toEqual(once);
    expect(await torture(handler, { seed: 8, rounds: ROUNDS })).not.toEqual(once);
    expect(once.effects.map(({ name }) => name).at(-1)).toContain('mail-');
  });

  it('shows the run again that it names', async () => {
    const handler: Handler = (run) => run.effect('x', act);
    const { only, reasons, mishap } = await verdictOn(handler);
    const again = await verdictOn(handler, { only: only! });
    expect(again).toMatchObject({ safe: false, reasons, mishap, report: { runs: 2 } });
  });

  it('lets everything happen that there is', async () => {
    const { mishaps, runs } = await torture((run) => run.effect('x', act));
    expect(Object.entries(mishaps).filter(([, count]) => count === 0)).toEqual([]);
    expect(runs).toBeGreaterThan(30);
  });

  it('leaves the process as fast as it was: all its runs share one storage for what is called just now', async () => {
    const used = vi.spyOn(AsyncLocalStorage.prototype, 'run');
    await torture((run) => run.effect('x', act));
    const { contexts } = used.mock;
    used.mockRestore();
    expect(contexts.length).toBeGreaterThan(1);
    expect(new Set(contexts).size).toBe(1);
  });

  it('looks at crons, one run at a time', async () => {
    class Seconds {
      @SingletonCron('* * * * * *', { name: 'seconds' })
      tick(run: RunContext): unknown {
        return run.effect(`tick-${run.scheduledAt.toISOString()}`, ({ idempotencyKey }) => idempotencyKey);
      }
    }
    const report = await tortureJob({ crons: () => [new Seconds()], job: 'seconds', lasts: '100s', rounds: 0 });
    expect(report).toMatchObject({ ok: true, effects: [{ name: 'tick-2030-01-01T00:00:01.000Z', safe: true }] });
  });

  it('is not content with a job that fails by itself, and says what it can not see', async () => {
    const failing = await torture(() => Promise.reject(new Error('the printer is away')));
    expect(failing).toMatchObject({ ok: false, effects: [] });
    expect(failing.notes.join(' ')).toMatch(
      /did not succeed, it is \w+: .*the printer is away.* no effects.*outside of effects/,
    );
  });

  it('says which fail points there was no time for', async () => {
    const { runs, notes } = await torture((run) => run.effect('x', act), { lasts: '1ms' });
    expect(runs).toBeLessThan(10);
    expect(notes.join(' ')).toMatch(/no time for \d+ fail points/);
  });

  it('gives back the clock and the dice', async () => {
    const [before, dice] = [Date, Math.random];
    const seen: number[] = [];
    await torture(() => void seen.push(new Date().getFullYear()), { lasts: '1ms' });
    expect([Date, Math.random, seen[0]]).toEqual([before, dice, 2030]);
    await expect(torture(act, { job: 'jib' })).rejects.toThrow('Did you mean "job"?');
    expect(Date).toBe(before);
  });
});
