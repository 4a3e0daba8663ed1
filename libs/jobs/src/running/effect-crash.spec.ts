import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Ledger } from '@fencepost/ledger';
import { answer } from './effect.stage.js';
import { atMost } from '../../../../test/support/run-length.js';
import { RUN, RUN_LEASE_MS, WorkerStage } from '../../../../test/support/worker-stage.js';
import { execute } from './execute.js';
import { LazyAbort } from './lazy-abort.js';
import type { RunContext } from './run-context.js';

const LIMITS = { attempts: 99, delayMs: 1, maxDelayMs: 1 };

/** One attempt: at which of its calls the process dies, whether that one still arrives, and what its acts do. */
interface Plan {
  readonly diesAt: number;
  readonly arrives: boolean;
  readonly acts: readonly ('returns' | 'throws' | 'hangs' | 'hangs in time')[];
  readonly answer: 'done' | 'not-done';
}

type Call = 'returned' | 'threw' | 'hanging';

/** What really happened, seen by the systems behind the effects. */
class World {
  readonly calls = new Map<string, Call[]>();
  /** Answers of the person that it did not happen, each good for one call. */
  readonly allowed = new Set<string>();
  readonly known = new Set<string>();
  readonly hanging: (() => void)[] = [];
  readonly faults: string[] = [];

  call(name: string, what: Plan['acts'][number] = 'returns'): Promise<string> | string {
    const calls = this.calls.get(name) ?? [];
    this.calls.set(name, calls);
    if (this.known.has(name)) this.faults.push(`${name} was done and is called again`);
    const last = calls.at(-1);
    const asks = !name.startsWith('retry');
    if (asks && last && last !== 'threw' && !this.allowed.delete(name))
      this.faults.push(`${name} is called again unasked`);
    const place = calls.push(what === 'throws' ? 'threw' : what === 'returns' ? 'returned' : 'hanging') - 1;
    if (what === 'throws') throw new Error('refused');
    if (what === 'returns') return name;
    return new Promise((resolve) =>
      this.hanging.push(() => {
        calls[place] = 'returned';
        resolve(name);
      }),
    );
  }
}

/** The ledger as a process sees it that dies: from one call on nothing is answered. */
function dying(ledger: Ledger, { diesAt, arrives }: Plan): Ledger {
  let calls = 0;
  return new Proxy(ledger, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        const call = name === 'heartbeat' ? calls : (calls += 1);
        if (call < diesAt || (call === diesAt && arrives)) {
          const reply: unknown = await Reflect.apply(method, target, args);
          if (call < diesAt) return reply;
        }
        return new Promise(() => {});
      };
    },
  });
}

function handler(world: World, { acts }: Plan) {
  const timeout = (what: Plan['acts'][number] | undefined) => (what === 'hangs in time' ? { timeout: '1s' } : {});
  return async (run: RunContext) => {
    await run.effect('retry', () => world.call('retry', acts[0]), timeout(acts[0]));
    await run.effect('ask', () => world.call('ask', acts[1]), { ifUnknown: 'ask', ...timeout(acts[1]) });
    await run.forEach(['a', 'b', 'c'], String, (key) => world.call(`items/${key}`, acts[2 + 'abc'.indexOf(key)]), {
      ...{ ifUnknown: 'ask', batchSize: 2 },
      ...(acts.includes('hangs in time') ? { timeout: '1s' } : {}),
    });
  };
}

async function round(stage: WorkerStage, world: World, plan: Plan): Promise<void> {
  const { clock, telemetry } = stage;
  const handle = { handle: handler(world, plan), retry: LIMITS };
  const deps = { clock, telemetry, random: () => 0, worker: 'worker/1', ttlMs: RUN_LEASE_MS, handlerOf: () => handle };
  const givenUp = new LazyAbort();
  const delivery = { runId: RUN, givenUp, log: () => {}, progress: async () => {} };
  void execute({ ...deps, ledger: dying(stage.memoryLedger, plan) }, delivery).catch(() => {});
  await stage.manual.advance(2_000);
  // The process is gone, or would go on for ever: in both cases another one takes over.
  if ((await stage.state()) === 'running') stage.manual.jumpWall(RUN_LEASE_MS * 9);
  await stage.manual.advance(RUN_LEASE_MS * 2);
  for (const goOn of world.hanging.splice(0, 1)) goOn();
  await stage.manual.advance(0);
  await note(stage, world, plan);
}

async function note(stage: WorkerStage, world: World, plan: Plan): Promise<void> {
  const unresolvedEffect = (await stage.memoryLedger.readRun(RUN))?.unresolvedEffect;
  if (unresolvedEffect) {
    const { effect, item } = unresolvedEffect;
    if (plan.answer === 'not-done') world.allowed.add(item === null ? effect : `${effect}/${item}`);
    await answer(stage, plan.answer === 'done' ? { verdict: 'done', result: '"so"' } : { verdict: 'not-done' });
  }
  const effects = await stage.memoryLedger.effects(RUN);
  for (const { name, state } of effects) if (state === 'done') world.known.add(name);
  const items = await stage.memoryLedger.items(RUN, 'items');
  for (const { key, state } of items) if (state === 'done') world.known.add(`items/${key}`);
}

const act = fc.oneof(
  { weight: 5, arbitrary: fc.constant('returns' as const) },
  fc.constantFrom('throws' as const, 'hangs' as const, 'hangs in time' as const),
);
const plan: fc.Arbitrary<Plan> = fc.record({
  diesAt: fc.integer({ min: 2, max: 14 }),
  arrives: fc.boolean(),
  acts: fc.array(act, { minLength: 5, maxLength: 5 }),
  answer: fc.constantFrom('done' as const, 'not-done' as const),
});

it('wherever a worker dies, nothing that is asked about is done twice unasked, and nothing done is done again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 1, maxLength: 6 }), async (plans) => {
      const stage = await WorkerStage.with();
      const world = new World();
      for (const each of plans) await round(stage, world, each);
      // In the end one that does not die carries it out.
      const healthy: Plan = { diesAt: Infinity, arrives: true, acts: [], answer: 'done' };
      for (let n = 0; n < 6; n += 1) await round(stage, world, healthy);
      expect(world.faults).toEqual([]);
      expect(await stage.state()).toBe('succeeded');
    }),
    atMost(100),
  );
});
