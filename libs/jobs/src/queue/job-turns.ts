import { raw2NextJobData } from 'bullmq';
import { MicroBatcher } from '@fencepost/lease/internal';
import { loadScripts, RedisScript } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { KeptJobs } from './plain-jobs.js';
import type { RunSteps } from './run-steps.js';
import type { Turn, TurnReply } from './turn.js';
import type { WorkerQueues } from './worker-queues.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['turn-over-jobs']);

/** What a ledger on another server puts before the script. */
const NO_STEPS = 'local finish_runs, begin_runs';

/** Shorter batches, and more of them: while the server has one, the worker prepares the next. */
const MAX_TURNED = 25;
const UNDER_WAY = 4;

export interface JobTurnsOptions {
  readonly redis: RedisClient;
  readonly queues: WorkerQueues;
  /** Of the connection. */
  readonly ready: () => Promise<void>;
  readonly keyPrefix: (queue: string) => string;
  readonly lockDurationMs: () => number;
  readonly kept: KeptJobs;
  /** What a call leaves, for the case that it is sent again. */
  readonly lastCallKey: (lane: number) => string;
  /** Absent: runs begin and end by themselves. */
  readonly steps?: RunSteps | undefined;
}

type Row = [isPlain: 0 | 1, queue?: number, id?: string, hash?: unknown[], begun?: unknown];
/** Per queue: to be asked by BullMQ's own script, or when its next delayed job is due. */
type LookedAt = readonly ('ASK' | number)[];

const TAKES = { no: 0, any: 1, plain: 2 };

/** Does what the slots of a worker request in one tick of the event loop in one script, for all of its queues. */
export class JobTurns {
  readonly #options: JobTurnsOptions;
  readonly #script: RedisScript;
  readonly #turns: MicroBatcher<Turn, TurnReply>;
  readonly #popped = new Set<string>();
  /** Each call that is under way has one. */
  readonly #lanes = Array.from({ length: UNDER_WAY }, (_, n) => n);
  #calls = 0;
  #first = 0;
  #asked: readonly string[] = [];

  constructor(options: JobTurnsOptions) {
    this.#options = options;
    const own = SCRIPTS['turn-over-jobs'];
    this.#script = new RedisScript(own.name, [options.steps?.lua ?? NO_STEPS, own.text].join('\n'));
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
    const lane = this.#lanes.pop() ?? 0;
    const sentAt = this.#options.steps?.sent() ?? 0;
    try {
      await this.#options.ready();
      return await this.#call(turns, { lane, sentAt });
    } finally {
      this.#lanes.push(lane);
      this.#options.steps?.answered();
    }
  }

  async #call(turns: readonly Turn[], { lane, sentAt }: { lane: number; sentAt: number }): Promise<TurnReply[]> {
    const { redis, queues, keyPrefix, lockDurationMs, kept, lastCallKey, steps } = this.#options;
    const at = Date.now();
    const { sources, popped } = this.#sources(turns.some(({ takes }) => takes !== 'no'));
    const order = [...sources];
    const nonces: string[] = [];
    const slots: (string | number)[] = [];
    for (const { token, ended, takes } of turns) {
      const place = ended ? placeOf(queues.queueOf(ended.id), order) : 0;
      const nonce = takes === 'no' ? '' : (steps?.nonce() ?? '');
      nonces.push(nonce);
      slots.push(token, place, ended?.id ?? '', ended?.value ?? '', TAKES[takes]);
      slots.push(ended?.run?.proof ?? '', ended?.run?.result ?? '', nonce);
    }
    const { keys, args } = steps?.words() ?? NO_WORDS;
    this.#calls += 1;
    const { count, age } = kept;
    const first = [at, lockDurationMs(), count, age * 1_000, order.length, sources.length, popped, this.#calls];
    const reply = (await this.#script.run(
      redis,
      [...order.map(keyPrefix), lastCallKey(lane), ...keys],
      [...first, ...args, ...slots],
    )) as [...Row[], LookedAt, unknown[]];
    const finished = (reply.pop() as unknown[]).values();
    const lookedAt = reply.pop() as LookedAt;
    const rows = reply as unknown as Row[];
    // All that ended before all that was taken: a run may be in two queues.
    for (const [n, { ended }] of turns.entries()) if (ended && rows[n]?.[0] === 1) queues.end(ended.id);
    const left = leftOf(lookedAt, order);
    return turns.map(({ takes, ended }, n) => {
      const own = this.#replyOf(rows[n] as Row, { at, order, left: takes === 'no' ? NOTHING : left });
      const { job } = own;
      if (job && !job.isSecond) steps?.took(job.id, { nonce: nonces[n] ?? '', sentAt, reply: rows[n]?.[4] });
      return ended?.run ? { ...own, finished: finished.next().value } : own;
    });
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

/** On a cluster, every key lies in the slot of the queue. */
const NO_WORDS = { keys: [], args: ['', 0, 0, 0, '', 0] };

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
