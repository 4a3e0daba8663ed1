import { lateBy } from '@fencepost/operations/presenting';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import { NOTHING_SEEN, workOf, type CronLook, type Look } from './observer.js';
import { podOf, runName, shortFence, span, timeOfDay } from './words.js';

export type Event = readonly [
  kind: 'run' | 'skip' | 'lease' | 'refusal' | 'chaos' | 'pod' | 'note' | 'status',
  text: string,
];

/** A pod lost its process, or its time; `crons` are those it held, less what others have taken over since. */
interface Hit {
  readonly pod: string;
  readonly what: string;
  readonly at: number;
  readonly crons: Set<string>;
}

/** A lease that no pod has taken over by then was released in order, or its pod woke up in time. */
const FOLLOW_MS = 30_000;
const FINAL: readonly string[] = ['succeeded', 'failed', 'cancelled', 'skipped'];

/** Compares each look at the stores with the one before: what is new, and who took over from a pod that was hit. */
export class Events {
  readonly #holders = new Map<string, string>();
  #told = new Set<string>();
  #hits: Hit[] = [];
  #before = NOTHING_SEEN;

  /** @param at epoch milliseconds */
  hit(pod: string, what: string, at: number): Event {
    const { leases, runs } = workOf(pod, this.#before);
    const crons = leases.map(({ name }) => name);
    this.#hits = [...this.#hits.filter((hit) => at - hit.at < FOLLOW_MS), { pod, what, at, crons: new Set(crons) }];
    const had = [...crons, ...runs.map(runName)].join(', ');
    return ['chaos', had ? `${what} (had ${had})` : what];
  }

  follow(look: Look): Event[] {
    const { at, crons } = look;
    const holders = crons.flatMap((cron) => this.#newHolder(cron, at));
    const skips = crons.flatMap(({ name, skips: ranges }) => ranges.map((range) => skipEvent(name, range)));
    const ends = crons.flatMap(({ runs }) => runs.filter(({ state }) => FINAL.includes(state)).map(endEvent));
    const untold = [...skips, ...ends].filter(([, text]) => !this.#told.has(text));
    const events = [...holders, ...untold, ...refusals(this.#before, look)];
    [this.#before, this.#told] = [look, new Set([...skips, ...ends].map(([, text]) => text))];
    return events;
  }

  #newHolder({ name, holding }: CronLook, at: number): Event[] {
    const before = this.#holders.get(name);
    if (holding === null || holding.holder === before) return [];
    this.#holders.set(name, holding.holder);
    const [holder, fence] = [podOf(holding.holder), shortFence(holding.fence)];
    if (before === undefined) return [['lease', `${holder} holds ${name} under fence ${fence}`]];
    // A restarted pod has its old name, and is another process.
    const taken = `${holder === podOf(before) ? 'the new ' : ''}${holder} took ${name} over`;
    const hit = this.#hits.find(({ pod, crons }) => pod === podOf(before) && crons.delete(name));
    if (hit) return [['chaos', `${hit.what} → ${taken} after ${span(at - hit.at)}`]];
    return [['lease', `${taken} from ${podOf(before)} under fence ${fence}`]];
  }
}

function skipEvent(cron: string, { after, through, reason }: SkipRange): Event {
  return ['skip', `instants of ${cron} after ${timeOfDay(after)} up to ${timeOfDay(through)} skipped: ${reason}`];
}

function endEvent(run: Run): Event {
  if (run.state === 'skipped') return ['skip', `${runName(run)} skipped: ${run.skipped}`];
  const lateMs = lateBy(run);
  const parts = [
    `${runName(run)} ${run.state} on ${podOf(run.worker) || 'no worker'}`,
    ...(lateMs === null ? [] : [`${span(lateMs)} late`]),
    `attempt ${run.attempt}`,
    ...(run.fence === null ? [] : [`fence ${shortFence(run.fence)}`]),
    ...(run.error === null ? [] : [run.error]),
  ];
  return ['run', parts.join(', ')];
}

function refusals(before: Look, { crons, turnedDown: { stale, repeated } }: Look): Event[] {
  const earlier = new Map(before.crons.map((cron) => [cron.name, cron.refusals]));
  const counts = crons.map(({ name, refusals: n }) => {
    return [n - (earlier.get(name) ?? 0), `stale calls for ${name} refused by the ledger`] as const;
  });
  const stales = [stale - before.turnedDown.stale, 'stale writes refused by the sink'] as const;
  const repeats = [repeated - before.turnedDown.repeated, 'repeated writes recognised by the sink'] as const;
  return [...counts, stales, repeats].flatMap(([n, text]): Event[] => (n > 0 ? [['refusal', `${text}: ${n}`]] : []));
}
