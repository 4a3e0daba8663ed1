import { raw2NextJobData } from 'bullmq';
import { MicroBatcher } from '@fencepost/lease/internal';
import { loadScripts } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { KeptJobs } from './plain-jobs.js';
import type { WorkerQueues } from './worker-queues.js';

const SCRIPTS = loadScripts(new URL('./lua/', import.meta.url), ['turn-over-jobs']);

/** Shorter batches, and more of them: while the server has one, the worker prepares the next. */
const MAX_TURNED = 25;
const UNDER_WAY = 4;

/** As BullMQ's worker expects it: the job and its id, the delay of a limited queue, and when the next delayed job is due. */
export type Taken = unknown[];

/** The request of a worker's slot: it completes its job, takes one, or both. */
export interface Turn {
  readonly token: string;
  readonly ended: { readonly id: string; readonly value: string } | null;
  /** `plain`: not from a queue that only BullMQ's own script can ask. */
  readonly takes: 'no' | 'any' | 'plain';
}

export interface TurnReply {
  /** `false`: nothing was done. */
  readonly isPlain: boolean;
  readonly at: number;
  readonly job: TakenJob | null;
  /** The queues that BullMQ's own script must ask for this slot, which may have a job. */
  readonly ask: readonly string[];
  /** The other queues have not been asked for this slot. */
  readonly isPartial: boolean;
  /** When the next delayed job of the others is due; 0 without one. */
  readonly dueAt: number;
}

export interface TakenJob {
  readonly queue: string;
  readonly id: string;
  readonly taken: Taken;
  /** `true`: the worker has a job of this id from another queue. */
  readonly isSecond: boolean;
}

export interface JobTurnsOptions {
  readonly redis: RedisClient;
  readonly queues: WorkerQueues;
  /** Of the connection. */
  readonly ready: () => Promise<void>;
  readonly keyPrefix: (queue: string) => string;
  readonly lockDurationMs: () => number;
  readonly kept: KeptJobs;
}

type Row = [isPlain: 0 | 1, queue?: number, id?: string, hash?: unknown[]];
/** Per queue: to be asked by BullMQ's own script, or when its next delayed job is due. */
type LookedAt = readonly ('ASK' | number)[];

const TAKES = { no: 0, any: 1, plain: 2 };

/** Does what the slots of a worker request in one tick of the event loop in one script, for all of its queues. */
export class JobTurns {
  readonly #options: JobTurnsOptions;
  readonly #turns: MicroBatcher<Turn, TurnReply>;
  readonly #popped = new Set<string>();
  #first = 0;
  #asked: readonly string[] = [];

  constructor(options: JobTurnsOptions) {
    this.#options = options;
    const send = (turns: readonly Turn[]) => this.#turnOver(turns);
    this.#turns = new MicroBatcher({ send, most: MAX_TURNED, inFlight: UNDER_WAY });
  }

  ask(turn: Turn): Promise<TurnReply> {
    return this.#turns.ask(turn);
  }

  /** Whether jobs were last requested of the present set of queues. */
  get isCurrent(): boolean {
    return this.#asked === this.#options.queues.names;
  }

  /** A popped marker tells no other worker about its queue, so this one looks there first. */
  pop(queue: string): void {
    this.#popped.add(queue);
  }

  async #turnOver(turns: readonly Turn[]): Promise<TurnReply[]> {
    const { redis, queues, ready, keyPrefix, lockDurationMs, kept } = this.#options;
    await ready();
    const at = Date.now();
    const { count, age } = kept;
    const { sources, popped } = this.#sources(turns.some(({ takes }) => takes !== 'no'));
    const order = [...sources];
    const args: (string | number)[] = [at, lockDurationMs(), count, age * 1_000, sources.length, popped];
    for (const { token, ended, takes } of turns) {
      const place = ended ? placeOf(queues.queueOf(ended.id), order) : 0;
      args.push(token, place, ended?.id ?? '', ended?.value ?? '', TAKES[takes]);
    }
    const rows = (await SCRIPTS['turn-over-jobs'].run(redis, order.map(keyPrefix), args)) as [...Row[], LookedAt];
    const lookedAt = rows.pop() as LookedAt;
    // All that ended before all that was taken: a run may be in two queues.
    for (const [n, { ended }] of turns.entries()) if (ended && rows[n]?.[0] === 1) queues.end(ended.id);
    const left = leftOf(lookedAt, order);
    return turns.map(({ takes }, n) =>
      this.#replyOf(rows[n] as Row, { at, order, left: takes === 'no' ? NOTHING : left }),
    );
  }

  /** Each queue is the first in its turn, so that none starves behind a full one. */
  #sources(takes: boolean): { sources: readonly string[]; popped: number } {
    const { names } = this.#options.queues;
    if (!takes) return { sources: [], popped: 0 };
    this.#asked = names;
    this.#first = (this.#first + 1) % names.length;
    const popped = names.filter((name) => this.#popped.has(name));
    const others = [...names.slice(this.#first), ...names.slice(0, this.#first)].filter(
      (name) => !this.#popped.has(name),
    );
    this.#popped.clear();
    return { sources: [...popped, ...others], popped: popped.length };
  }

  #replyOf(
    [plain, place, id, hash]: Row,
    { at, order, left }: { at: number; order: readonly string[]; left: Left },
  ): TurnReply {
    const reply = { isPlain: plain === 1, at, job: null, isPartial: false, ...left };
    if (place === undefined) return reply;
    const queue = order[place - 1] as string;
    if (id === undefined) return { ...reply, ask: [queue], isPartial: true };
    const isSecond = !this.#options.queues.take(id, queue);
    return { ...reply, job: { queue, id, isSecond, taken: raw2NextJobData([hash, id, 0, 0]) } };
  }
}

type Left = Pick<TurnReply, 'ask' | 'dueAt'>;

const NOTHING: Left = { ask: [], dueAt: 0 };

function leftOf(lookedAt: LookedAt, order: readonly string[]): Left {
  const due = lookedAt.filter((one) => one !== 'ASK' && one > 0) as number[];
  const ask = order.filter((_name, n) => lookedAt[n] === 'ASK');
  return { ask, dueAt: due.length === 0 ? 0 : Math.min(...due) };
}

/** @returns the place of the queue in the list, from 1 on, to which it is added if it is not there */
function placeOf(queue: string, order: string[]): number {
  const place = order.indexOf(queue);
  return place < 0 ? order.push(queue) : place + 1;
}
