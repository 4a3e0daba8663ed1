import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { CronHandler } from '@fencepost/jobs/internal';
import { EffectUnknownError } from '@fencepost/jobs';
import type { EffectContext, RunContext } from '@fencepost/jobs';
import { seededRandom } from '../support/seeded-random.js';
import type { Act, Sinks } from './sinks.js';
import { declarations, type Program } from './workload.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** One attempt's means: what it does next follows from its run and its number alone, whatever else goes on. */
interface Stage {
  readonly run: RunContext;
  readonly sinks: Sinks;
  readonly random: () => number;
  /** Takes its time, mostly little of it, by the clock of the process. */
  readonly pause: (signal?: AbortSignal) => Promise<void>;
}

type Work = (stage: Stage) => Promise<void>;

const WORK: Readonly<Record<string, Work>> = {
  nightly: async (stage) => {
    await fenced(stage);
    await asked(stage);
  },
  steady: lookedUp,
  items,
  crowd: fenced,
  hourly: async (stage) => {
    await keyed(stage);
    await fenced(stage);
  },
  half: asked,
  leaving: keyed,
  dated: keyed,
  tuned: fenced,
  'at-load': keyed,
  invoices: fenced,
  coming: async (stage) => {
    await lookedUp(stage);
    await items(stage);
  },
};

/**
 * Handlers as careless as users write them: they act after their signal has aborted, fail now and then, and take longer than
 * they should. They wait by the clock of their process, so that its pauses and its end fall in between.
 */
export function handlers(program: Program, sinks: Sinks, clock: Clock): (cron: string) => CronHandler | undefined {
  const known = new Map(
    declarations(program).map(({ definition: { name } }) => [name, handlerFor(name, sinks, clock)] as const),
  );
  return (cron) => known.get(cron);
}

function handlerFor(name: string, sinks: Sinks, clock: Clock): CronHandler {
  return {
    // Where one try is all, a worker that is lost leaves none.
    retry: { attempts: name === 'crowd' ? 1 : 3, delayMs: 5 * MINUTE, maxDelayMs: 30 * MINUTE },
    criticality: name === 'nightly' ? 'correctness' : 'efficiency',
    ...(name === 'hourly' ? { timeoutMs: 30 * MINUTE } : {}),
    handle: (run) => execute(run, { sinks, clock }),
  };
}

async function execute(run: RunContext, { sinks, clock }: { sinks: Sinks; clock: Clock }): Promise<void> {
  const random = seededRandom(seedOf(`${run.id}/${run.attempt}`));
  const pause = (signal?: AbortSignal) => sleep(clock, lengthOf(random()), signal);
  sinks.control(run.id);
  await pause();
  await WORK[run.cron]?.({ run, sinks, random, pause });
  const luck = random();
  if (luck < 0.05) throw new Error('it broke after all was done');
  if (luck < 0.06) throw Object.assign(new Error('no further try would help'), { name: 'UnrecoverableError' });
}

/** Mostly seconds, now and then minutes, seldom longer than a worker may be silent. */
function lengthOf(luck: number): number {
  if (luck < 0.8) return Math.round(luck * 40 * SECOND);
  return Math.round(luck < 0.97 ? (luck - 0.8) * 40 * MINUTE : luck * 45 * MINUTE);
}

async function fenced({ run, sinks, random, pause }: Stage): Promise<void> {
  const act = async (context: EffectContext) => {
    await pause();
    if (random() < 0.05) throw new Error('the row could not be reached');
    const written = sinks.fenced(run.cron, actOf(run, context));
    await pause(context.signal);
    return written;
  };
  await run.effect('row', act);
  settle(run, sinks, 'row');
}

async function keyed({ run, sinks, random, pause }: Stage): Promise<void> {
  const act = async (context: EffectContext) => {
    sinks.keyed(actOf(run, context));
    await pause();
    if (random() < 0.05) throw new EffectUnknownError('the provider fell silent');
    return 'paid';
  };
  await run.effect('payment', act, { payload: { run: run.id } });
  settle(run, sinks, 'payment');
}

async function lookedUp({ run, sinks, random, pause }: Stage): Promise<void> {
  const act = async (context: EffectContext) => {
    await pause(context.signal);
    sinks.keyed(actOf(run, context));
    await pause();
    return 'shipped';
  };
  const ifUnknown = async ({ idempotencyKey, signal }: EffectContext) => {
    await pause(signal);
    if (random() < 0.1) return 'unknown' as const;
    return sinks.knows(idempotencyKey) ? { done: 'shipped' } : ('not-done' as const);
  };
  await run.effect('shipment', act, { ifUnknown, timeout: 20 * MINUTE });
  settle(run, sinks, 'shipment');
}

async function asked({ run, sinks, random, pause }: Stage): Promise<void> {
  const act = async (context: EffectContext) => {
    await pause();
    if (random() < 0.05) throw new Error('refused before anything happened');
    sinks.asked(actOf(run, context));
    await pause(context.signal);
    return null;
  };
  await run.effect('ask-mail', act, { ifUnknown: 'ask', timeout: 15 * MINUTE });
  settle(run, sinks, 'ask-mail');
}

async function items({ run, sinks, random, pause }: Stage): Promise<void> {
  const act = async (_: number, context: EffectContext) => {
    await pause(context.signal);
    if (random() < 0.03) throw new Error('one of many');
    sinks.asked(actOf(run, context));
  };
  const options = { name: 'ask-items', ifUnknown: 'ask', batchSize: 2 } as const;
  await run.forEach([1, 2, 3, 4, 5], (item) => `n${item}`, act, options);
  for (const item of [1, 2, 3, 4, 5]) settle(run, sinks, `ask-items/n${item}`);
}

function actOf({ id: runId, fence }: RunContext, { idempotencyKey: key }: EffectContext): Act {
  return { runId, key, fence };
}

function settle({ id, fence }: RunContext, sinks: Sinks, name: string): void {
  sinks.settled({ key: `${id}/${name}`, fence });
}

/** FNV-1a, as good as any: near names have to give far seeds. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < text.length; n += 1) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193);
  return hash >>> 0;
}
