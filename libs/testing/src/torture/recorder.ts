import { AsyncLocalStorage } from 'node:async_hooks';
import { parseDuration } from '@fencepost/lease/internal/options';
import type { Criticality } from '@fencepost/lease/internal/redis-checks';
import type { EffectContext, EffectOptions, ForEachOptions, IfUnknown, TransactionalRunContext } from '@fencepost/jobs';
import { payloadHash, type ItemAct, type TransactionOptions, type TransactionWork } from '@fencepost/jobs/internal';
import type {
  Call,
  EffectKind,
  ItemKey,
  Looked,
  Policy,
  Request,
  Observations,
  Swallowed,
  Read,
} from './observations.js';

/** What happens around the calls of effects. */
export interface Around {
  /** Before the function is called. @throws as a provider that refuses */
  before(call: Call): Promise<void>;
  /** While it is called, and before the engine hears of it. @throws as one that is not heard */
  within(call: Call, work: Promise<unknown>): Promise<void>;
}

type Effect = Pick<Call, 'attempt' | 'name' | 'item'>;
type Act = (context: EffectContext) => unknown;
type Lookup = Exclude<IfUnknown<unknown>, string>;

const SWALLOWED: ReadonlySet<unknown> = new Set(['STALE_FENCE']);

/**
 * The call that the code running now belongs to: it may ask the run for its key instead of its context. One for all recorders,
 * because in Node 20 each storage that was ever used makes every `await` of the process slower.
 */
const currentCall = new AsyncLocalStorage<Call>();

/** Sits between a handler and its run, and in the functions of its effects, and writes down what it sees. */
export class Recorder implements Observations {
  readonly requests: Request[] = [];
  readonly calls: Call[] = [];
  readonly looked: Looked[] = [];
  readonly keys: ItemKey[] = [];
  readonly swallowed: Swallowed[] = [];
  readonly ended = new Set<number>();
  /** Those too that came to nothing: whoever is about to call is another one. */
  readonly #arrived: Call[] = [];
  /** Calls that somebody still waits for. */
  readonly open = new Map<Call, Promise<unknown>>();

  constructor(
    private readonly around: Around,
    private readonly criticality: Criticality,
  ) {}

  /** Carries out a handler whose run is watched. */
  async handle(run: TransactionalRunContext, handler: (run: TransactionalRunContext) => unknown): Promise<unknown> {
    const refused: Swallowed[] = [];
    try {
      const result = await handler(this.#watched(run, refused));
      this.swallowed.push(...refused);
      return result;
    } finally {
      this.ended.add(run.attempt);
    }
  }

  #watched(run: TransactionalRunContext, refused: Swallowed[]): TransactionalRunContext {
    const note = async <T>(name: string, work: Promise<T>) => {
      return work.catch((error: unknown) => {
        if (isRefusal(run, error)) refused.push({ name, error: nameOf(error) });
        throw error;
      });
    };
    const effect: TransactionalRunContext['effect'] = (name, act, options) =>
      note(name, this.#effect(run, { name, act }, options));
    const transaction: TransactionalRunContext['transaction'] = (work, options) =>
      note(options?.name ?? 'transaction', this.#transaction(run, work, options));
    const forEach: TransactionalRunContext['forEach'] = (items, keyOf, ...[act, options]) =>
      note(options?.name ?? 'items', this.#forEach(run, { items, keyOf, act }, options));
    const forEachTransaction: TransactionalRunContext['forEachTransaction'] = (items, options, act) =>
      note(options.name ?? 'items', run.forEachTransaction(items, options, act));
    const watched = watchedReads({ ...run }, (read) => currentCall.getStore()?.reads.add(read), run);
    return Object.assign(watched, { effect, transaction, forEach, forEachTransaction });
  }

  async #effect<T, R>(
    run: TransactionalRunContext,
    { name, act }: { readonly name: string; readonly act: (context: EffectContext) => Promise<T> | T },
    options?: EffectOptions<T, R>,
  ): Promise<R> {
    this.#request(run, { name, kind: 'effect' }, options);
    const of = { attempt: run.attempt, name, item: null };
    const watched = (context: EffectContext) => this.#call(run, of, { act, context }) as Promise<T>;
    return run.effect<T, R>(name, watched, this.#withLookup(name, options));
  }

  #forEach<T>(
    run: TransactionalRunContext,
    {
      items,
      keyOf,
      act,
    }: {
      readonly items: Iterable<T> | AsyncIterable<T>;
      readonly keyOf: (item: T) => string;
      readonly act: ItemAct<T>;
    },
    options?: ForEachOptions,
  ) {
    const name = options?.name ?? 'items';
    this.#request(run, { name, kind: 'items' }, options);
    const { attempt } = run;
    const key = (item: T) => {
      const own = keyOf(item);
      this.keys.push({ attempt, name, key: own, hash: hashOf(item) });
      return own;
    };
    const watched: ItemAct<T> = (item, context) => {
      const of = { attempt, name, item: context.idempotencyKey.slice(`${run.id}/${name}/`.length) };
      return this.#call(run, of, { act: (about) => act(item, about), context });
    };
    return run.forEach(items, key, watched, this.#withLookup(name, options));
  }

  #transaction<T>(run: TransactionalRunContext, work: TransactionWork<T>, options?: TransactionOptions): Promise<T> {
    const name = options?.name ?? 'transaction';
    this.#request(run, { name, kind: 'transaction' }, options);
    const call = this.#begun(run, { attempt: run.attempt, name, item: null }, { idempotencyKey: '', fence: run.fence });
    return run.transaction<T>(async (tx) => {
      this.calls.push(call);
      const result = await work(tx);
      call.ended = 'returned';
      return result;
    }, options);
  }

  #request(
    run: TransactionalRunContext,
    of: { readonly name: string; readonly kind: EffectKind },
    options: unknown,
  ): void {
    const given = typeof options === 'object' && options !== null ? options : {};
    const payload: unknown = Reflect.get(given, 'payload');
    const policy = this.#policyOf(Reflect.get(given, 'ifUnknown') as IfUnknown<unknown> | undefined);
    const timeoutMs = millisecondsOf(Reflect.get(given, 'timeout'));
    this.requests.push({ attempt: run.attempt, ...of, policy, payloadHash: hashOf(payload), timeoutMs });
  }

  #policyOf(ifUnknown: IfUnknown<unknown> | undefined): Policy {
    if (typeof ifUnknown === 'function') return 'lookup';
    return ifUnknown ?? (this.criticality === 'correctness' ? 'ask' : 'retry');
  }

  #withLookup<O extends object>(name: string, options: O | undefined): O | undefined {
    const ifUnknown: unknown = options && Reflect.get(options, 'ifUnknown');
    if (typeof ifUnknown !== 'function') return options;
    const watched: Lookup = async (about) => {
      const answer = await (ifUnknown as Lookup)(about);
      this.looked.push({ name, answer: typeof answer === 'string' ? answer : 'done' });
      return answer;
    };
    return { ...(options as O), ifUnknown: watched };
  }

  #begun(
    run: TransactionalRunContext,
    of: Effect,
    { idempotencyKey, fence }: Pick<EffectContext, 'idempotencyKey' | 'fence'>,
  ): Call {
    const outcome = { ended: 'cut off', result: null, wentOn: false } as const;
    return { ...of, idempotencyKey, fence, reads: new Set(), beganLate: run.signal.aborted, ...outcome };
  }

  async #call(
    run: TransactionalRunContext,
    of: Effect,
    { act, context }: { readonly act: Act; readonly context: EffectContext },
  ): Promise<unknown> {
    const call = this.#begun(run, of, context);
    // Its function is not called before what is to happen first has happened, and may be called late for it.
    this.#arrived.push(call);
    await this.around.before(call);
    this.calls.push(call);
    const about = watchedReads({ ...context }, (read) => call.reads.add(read), context);
    const work = currentCall.run(call, async () => act(about as EffectContext));
    const settled = work.then(
      (result) => Object.assign(call, { ended: 'returned', result }),
      () => Object.assign(call, { ended: 'threw' }),
    );
    this.open.set(call, settled);
    void settled.then(() => this.open.delete(call));
    // What comes back at once has nothing left to do when its worker goes on.
    const atOnce = await Promise.race([settled, turn()]);
    try {
      await this.around.within(call, settled);
      return await work;
    } finally {
      if (!atOnce) this.#closed(call);
    }
  }

  #closed(call: Call): void {
    call.wentOn = this.#arrived.some((other) => isSame(other, call) && other.attempt > call.attempt);
  }
}

/** Whether two calls are of one effect, or of one item. */
export function isSame(one: Pick<Call, 'name' | 'item'>, other: Pick<Call, 'name' | 'item'>): boolean {
  return one.name === other.name && one.item === other.item;
}

/** What tells a handler that it is no longer its turn. */
function isRefusal(run: TransactionalRunContext, error: unknown): boolean {
  if (error instanceof Error && SWALLOWED.has(Reflect.get(error, 'code'))) return true;
  return run.signal.aborted && error === run.signal.reason;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error);
}

function hashOf(value: unknown): string | null {
  try {
    return payloadHash(value);
  } catch {
    return null;
  }
}

function millisecondsOf(timeout: unknown): number {
  try {
    return timeout === undefined ? 0 : parseDuration(timeout as string | number);
  } catch {
    return 0;
  }
}

function turn(): Promise<null> {
  return new Promise((resolve) => setImmediate(resolve, null));
}

/** Which property stands for what: whoever sends the id of the run has a key too. */
const READS: readonly (readonly [property: string, read: Read])[] = [
  ['idempotencyKey', 'idempotencyKey'],
  ['id', 'idempotencyKey'],
  ['fence', 'fence'],
  ['signal', 'signal'],
];

/** Replaces what `target` has of these by getters that tell; they read from `source` each time. */
function watchedReads<T extends object>(target: T, onRead: (read: Read) => void, source: object): T {
  for (const [property, read] of READS) {
    if (!(property in source)) continue;
    const get = () => {
      onRead(read);
      return Reflect.get(source, property) as unknown;
    };
    Object.defineProperty(target, property, { enumerable: true, configurable: true, get });
  }
  return target;
}
