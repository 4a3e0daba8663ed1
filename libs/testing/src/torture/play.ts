import { isTerminal, type Answer, type Run } from '@fencepost/ledger/run';
import type { Fault, Marker } from '../fail-points.js';
import type { TestJobs } from '../test-jobs.js';
import { Hold, strikeInCall, type CallMishap } from './hold.js';
import type { TortureMishap } from './mishap.js';
import { isSame, type Around, type Recorder } from './recorder.js';
import type { Call } from './observations.js';

/** A mishap that is to happen to a worker, or to a message. */
interface PlannedFault {
  readonly mishap: TortureMishap;
  readonly fault: Fault;
}

/** A mishap that is to happen within a call. */
interface PlannedCall {
  readonly mishap: CallMishap;
  /** The worker that is about to call it. */
  readonly worker: Marker;
  struck: boolean;
  /** Lets a call go on whose worker stood still. */
  goOn: () => void;
}

/** A run that goes on after so many turns of the clock never ends. */
const MAX_TURNS = 80;
const STEP_MS = 10_000;
const MAX_STEP_MS = 86_400_000;
/** In which the heartbeat of a worker hears what has become of its run. */
const HEARD_MS = 12_000;
const TIDY_MS = 60_000;
/** Of the real clock: what a function waits for may be real. */
const PATIENCE_MS = 200;

/** One run and what happens to it, from its first attempt to its end. */
export class Play implements Around {
  readonly hold = new Hold();
  #kit: TestJobs | null = null;
  #recorder: Recorder | null = null;
  #faults: PlannedFault[] = [];
  #calls: PlannedCall[] = [];
  #slowMs = 0;

  /** @param slowMs longer than the job may take */
  plan(
    kit: TestJobs,
    recorder: Recorder,
    of: { readonly mishaps: readonly TortureMishap[]; readonly slowMs: number },
  ): void {
    [this.#kit, this.#recorder, this.#slowMs] = [kit, recorder, of.slowMs];
    for (const mishap of of.mishaps) {
      if ('write' in mishap) this.#faults.push({ mishap, fault: planFault(kit, mishap) });
      else this.#calls.push({ mishap, worker: markerOf(kit, mishap.effect), struck: false, goOn: () => {} });
    }
  }

  /** Those that happened. */
  get struck(): TortureMishap[] {
    const faults = this.#faults.filter(({ fault }) => fault.reached);
    return [...faults, ...this.#calls.filter(({ struck }) => struck)].map(({ mishap }) => mishap);
  }

  /** Lets time pass until the run is over, answers what it asks, and lets everything go on that stands still. */
  async live(runId: string): Promise<Run | null> {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await this.#calm();
      const run = await this.#kit?.ledger.readRun(runId);
      if (this.hold.waits) await this.#meanwhile(runId);
      else if (run?.state === 'uncertain') await this.#answer(run);
      else if (!run || isTerminal(run.state)) break;
      else await this.#step();
    }
    await this.#thaw('all');
    await this.#kit?.advance(TIDY_MS);
    await this.#calm();
    return (await this.#kit?.ledger.readRun(runId)) ?? null;
  }

  async before(call: Call): Promise<void> {
    // The first one would thaw itself, where it does several things at once.
    if (call.attempt > 1) await this.#thaw('beside');
    await this.#strike(call, 'before');
  }

  async within(call: Call, work: Promise<unknown>): Promise<void> {
    await this.#strike(call, 'within', work);
  }

  async #strike(call: Call, when: 'before' | 'within', work?: Promise<unknown>): Promise<void> {
    const planned = this.#calls.find(
      ({ struck, mishap }) => !struck && mishap.effect === call.name && whenOf(mishap) === when,
    );
    if (!planned) return;
    planned.struck = true;
    const stall = () => {
      planned.worker.freeze();
      return new Promise<void>((resolve) => (planned.goOn = resolve));
    };
    await strikeInCall(planned.mishap, { stall, hold: this.hold, work });
  }

  /** What happens while a call is held. */
  async #meanwhile(runId: string): Promise<void> {
    if (this.hold.waits === 'cancel') {
      await this.#kit?.ledger.cancel(runId, { by: 'torture', graceMs: TIDY_MS });
      await this.#kit?.advance(HEARD_MS);
    } else {
      const timeouts = this.#recorder?.requests.map(({ timeoutMs }) => timeoutMs) ?? [];
      await this.#kit?.advance(Math.max(TIDY_MS, this.#slowMs, ...timeouts) + STEP_MS);
    }
    this.hold.release();
  }

  /** To the next thing that is due, and no further. */
  async #step(): Promise<void> {
    const kit = this.#kit;
    const due = kit ? kit.queue.nextAt - kit.clock.now() : Infinity;
    await kit?.advance(due === Infinity ? STEP_MS : Math.min(Math.max(due, 1), MAX_STEP_MS));
  }

  /** As a person does who looks when the old worker is certainly gone: what came through is done, and nothing else is. */
  async #answer({ id, unresolvedEffect }: Run): Promise<void> {
    await this.#thaw('all');
    await this.#kit?.advance(STEP_MS);
    await this.#calm();
    const about = { name: unresolvedEffect?.effect ?? '', item: unresolvedEffect?.item ?? null };
    const done = this.#recorder?.calls.find((call) => isSame(call, about) && call.ended === 'returned');
    const verdict: Answer['verdict'] = done ? 'done' : 'not-done';
    const still = await this.#kit?.ledger.readRun(id);
    if (still?.state === 'uncertain') await this.#kit?.resolve(id, verdict, done?.result ?? null);
  }

  async #thaw(which: 'beside' | 'all'): Promise<void> {
    const isMeant = ({ mishap }: { readonly mishap: TortureMishap }) =>
      which === 'all' || ('thaw' in mishap && mishap.thaw === 'beside');
    const frozen = [...this.#faults, ...this.#calls.map(({ mishap, worker: fault }) => ({ mishap, fault }))];
    for (const one of frozen.filter((each) => isMeant(each))) void one.fault.thaw();
    for (const { goOn } of this.#calls.filter((each) => isMeant(each))) goOn();
    await settled();
  }

  /** Until nobody waits for a function that is still called, or that takes too long. */
  async #calm(): Promise<void> {
    await settled();
    if (this.hold.waits) return;
    const open = [...(this.#recorder?.open.values() ?? [])];
    if (open.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([Promise.allSettled(open), patience]);
    clearTimeout(timer);
    await settled();
  }
}

function whenOf(mishap: CallMishap): 'before' | 'within' {
  if (mishap.kind === 'stall') return mishap.when;
  return mishap.kind === 'refusal' ? 'before' : 'within';
}

function planFault(kit: TestJobs, mishap: Extract<TortureMishap, { readonly write: unknown }>): Fault {
  const { kind, when, write, effect } = mishap;
  if (kind !== 'lose') return kit[kind][when](write, effect);
  return when === 'before' ? kit.loseRequest(write, effect) : kit.loseReply(write, effect);
}

/** The worker that has begun it, whichever way it is recorded. */
function markerOf(kit: TestJobs, effect: string): Marker {
  const marks = (['beginEffect', 'advanceItems'] as const).map((write) => kit.markAfter(write, effect));
  return {
    freeze: () => marks.forEach((mark) => mark.freeze()),
    thaw: async () => void (await Promise.all(marks.map((mark) => mark.thaw()))),
  };
}

/** Enough turns of the event loop for what follows from one thing to have happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
