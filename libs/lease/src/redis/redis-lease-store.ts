import { FenceExhaustedError } from '../base/errors.js';
import { formatFence, NO_FENCE, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkRequest, checkWhole } from '../store/lease-request.js';
import type { Term } from '../store/grant.js';
import { inBatches, loadScripts, type RedisClient } from './redis-script.js';
import { NotReplicatedError, waitForReplicas, type ReplicatedWrite } from './replicated-write.js';
import type { RedisLeaseStoreOptions } from './redis-lease-options.js';
import { RedisLeaseSessions } from './redis-lease-sessions.js';
import { isHeld, settleHeld } from './session-answers.js';
import type { LeaseSessions, Session, SessionRequest } from '../store/lease-sessions.js';
import { watchChannel } from './redis-connection.js';
import { partOf, redisChannel, redisKeyPairsOf, redisKeysOf } from '../store/keys.js';
import type { KeyPair, KeySpace } from '../store/keys.js';
import { probeRedis } from './redis-probe.js';
import type { Criticality, Finding } from '../store/finding.js';
import type {
  AcquireReply,
  AcquireRequest,
  Holding,
  HoldingsPage,
  QuorumMember,
  StopWatching,
} from '../store/lease-store.js';
import { TEXTS } from '../lua/texts.js';

const scripts = loadScripts(TEXTS, [
  'acquire-lease',
  'acquire-leases',
  'acquire-session-leases',
  'evict-lease',
  'renew-leases',
  'release-leases',
  'inspect-leases',
  'raise-fence',
]);

/** Leases in one Redis, or in one Redis Cluster. For its limits, see the README. */
export class RedisLeaseStore implements QuorumMember {
  readonly servesInOrder = true;
  readonly #redis: RedisClient;
  readonly #lease: (resource: string) => string;
  /** The keys of a lease and of its fence. */
  readonly #keys: (resource: string) => KeyPair;
  readonly #listed: KeySpace & { readonly part: string };
  readonly #released: string;
  readonly #replication: RedisLeaseStoreOptions['replication'];
  readonly #sessions: RedisLeaseSessions;

  /** @throws {SetupError} for a prefix or tenant that can't be part of a key */
  constructor(options: RedisLeaseStoreOptions) {
    const { prefix, tenant } = options;
    this.#redis = options.redis;
    this.#listed = { prefix, tenant, part: partOf(options.kind, 'lease') };
    this.#lease = redisKeysOf(this.#listed.part, options);
    this.#keys = redisKeyPairsOf([this.#listed.part, partOf(options.kind, 'fence')], options);
    this.#released = redisChannel(options, partOf(options.kind, 'released'));
    this.#replication = options.replication;
    this.#sessions = new RedisLeaseSessions(options, {
      lease: this.#lease,
      acquire: (session, requests) => this.#acquireUnder(session, requests),
    });
  }

  get sessions(): LeaseSessions {
    return this.#sessions;
  }

  async probe(criticality: Criticality): Promise<Finding[]> {
    return probeRedis(this.#redis, { criticality, awaitedReplicas: this.#replication?.replicas ?? 0 });
  }

  async acquire(request: AcquireRequest): Promise<AcquireReply> {
    checkRequest(request);
    const answer = String(await this.#ask(request, this.#sessions.ended));
    // A lease that no session holds takes no detour.
    return isHeld(answer) ? this.#settle(request, answer) : replyTo(request, answer);
  }

  #ask(request: AcquireRequest, over: string): Promise<unknown> {
    const args = [askedFor(request)];
    if (request.waits) args.push(over, 'WAITS');
    else if (over !== '') args.push(over);
    return this.#run('acquire-lease', [request], args);
  }

  async #settle(request: AcquireRequest, held: string): Promise<AcquireReply> {
    const ask = async (_: unknown, over: string) => [String(await this.#ask(request, over))];
    const [answer = ''] = await settleHeld([held], { requests: [request], sessions: this.#sessions, ask });
    return replyTo(request, answer);
  }

  async acquireMany(requests: readonly AcquireRequest[]): Promise<AcquireReply[]> {
    requests.forEach(checkRequest);
    // Each waits for its own replicas: one WAIT for all would give up all of them for one.
    if (this.#replication) return Promise.all(requests.map((request) => this.acquire(request)));
    const ask = (asked: readonly AcquireRequest[], over: string) =>
      inBatches(this.#redis, asked, async (batch) =>
        list(await this.#run('acquire-leases', batch, [over, ...batch.map(askedFor)])).map(String),
      );
    const first = await ask(requests, this.#sessions.ended);
    const answers = await settleHeld(first, { requests, sessions: this.#sessions, ask });
    return requests.map((request, n) => replyTo(request, heeded(request, answers[n] ?? '', request.ttlMs)));
  }

  /** A batch counts when so many replicas have all of it: one WAIT covers whatever was written before it. */
  async #acquireUnder({ nonce, ttlMs }: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    const ask = (asked: readonly SessionRequest[], over: string) =>
      inBatches(this.#redis, asked, async (batch) => {
        const args = [over, nonce, batch.map(askedUnder).join('\n')];
        return answersUnder(batch.length, list(await this.#run('acquire-session-leases', batch, args)));
      });
    const first = await ask(requests, this.#sessions.ended);
    const answers = await settleHeld(first, { requests, sessions: this.#sessions, ask });
    return requests.map((request, n) => replyTo(request, heeded(request, answers[n] ?? '', ttlMs)));
  }

  async evict(resource: string, fence: Fence): Promise<boolean> {
    const args = [formatFence(fence), this.#released, resource];
    const reply = await scripts['evict-lease'].run(this.#redis, this.#keys(resource), args);
    const [word, session, nonce] = String(reply).split(' ');
    if (session !== undefined && nonce !== undefined) return this.#sessions.revoke(session, { resource, nonce });
    return word === 'DONE';
  }

  #run(
    name: keyof typeof scripts & `acquire-${string}`,
    terms: readonly Term[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const [script, keys] = [scripts[name], this.#keysOf(terms)];
    if (!this.#replication) return script.run(this.#redis, keys, args);
    return this.#runReplicated(terms, { script, keys, args, ...this.#replication });
  }

  async #runReplicated(
    terms: readonly Term[],
    { redis, ...write }: ReplicatedWrite & { readonly redis: RedisClient },
  ): Promise<unknown> {
    try {
      return await waitForReplicas(redis, { ...write, wrote: isAcquired });
    } catch (error) {
      // It is on the primary and must be given back: the caller asked for a lease that survives a failover.
      if (error instanceof NotReplicatedError) await this.release(terms);
      throw error;
    }
  }

  async renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    checkWhole('ttlMs', ttlMs, 1);
    return inBatches(this.#redis, terms, async (batch) => {
      const args = [ttlMs, ...batch.map(({ nonce }) => nonce)];
      return answersOf(batch, await scripts['renew-leases'].run(this.#redis, this.#leases(batch), args));
    });
  }

  async release(terms: readonly Term[]): Promise<boolean[]> {
    const answers = await inBatches(this.#redis, terms, async (batch) => {
      const args = [this.#released];
      for (const { nonce, resource } of batch) args.push(nonce, resource);
      return endsOf(batch, await scripts['release-leases'].run(this.#redis, this.#keysOf(batch), args));
    });
    return answers.every((answer) => typeof answer === 'boolean') ? answers : this.#wereLive(answers);
  }

  async #wereLive(answers: readonly (boolean | string)[]): Promise<boolean[]> {
    const sessions = await this.#sessions.lookAtEach(answers.filter((answer) => typeof answer === 'string'));
    return answers.map((answer) => (typeof answer === 'string' ? sessions.get(answer) !== undefined : answer));
  }

  async raiseFence({ resource, nonce }: Term, fence: Fence): Promise<boolean> {
    checkWhole('fence', fence, 1);
    const reply = await scripts['raise-fence'].run(this.#redis, this.#keys(resource), [nonce, formatFence(fence)]);
    return reply === 'DONE';
  }

  async inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    const found = await inBatches(this.#redis, resources, async (batch) => {
      const keys = batch.map((resource) => this.#lease(resource));
      const answers = list(await scripts['inspect-leases'].run(this.#redis, keys, []));
      return answers.map((answer) => (answer === null ? null : list(answer).map(String)));
    });
    const sessions = await this.#sessions.lookAtEach(
      found.flatMap((words) => (words?.[2] === '' ? [words[0] ?? ''] : [])),
    );
    return found.map((words) => {
      if (words?.[2] !== '') return words && holding(words);
      const live = sessions.get(words[0] ?? '');
      return live ? { ...holding(words), ...live } : null;
    });
  }

  /** By SCAN over all keys of the server: listing costs something only when someone asks for it. */
  async list(after: string | null, limit: number): Promise<HoldingsPage> {
    // Only who lists loads it: a worker never does.
    const { scanHoldings } = await import('./redis-scan.js');
    return scanHoldings(this.#redis, this.#listed, { after, limit, inspect: (names) => this.inspect(names) });
  }

  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    return watchChannel(this.#redis, this.#released, onReleased);
  }

  #leases(terms: readonly Term[]): string[] {
    return terms.map(({ resource }) => this.#lease(resource));
  }

  #keysOf(terms: readonly Term[]): string[] {
    const keys: string[] = [];
    for (const { resource } of terms) keys.push(...this.#keys(resource));
    return keys;
  }
}

const ACQUIRED = 'ACQUIRED ';
const BUSY = 'BUSY ';

function askedFor({ nonce, ttlMs, floor, holder }: AcquireRequest): string {
  return `${nonce} ${ttlMs} ${formatFence(floor)} ${holder}`;
}

function askedUnder({ nonce, floor }: SessionRequest): string {
  return floor > NO_FENCE ? `${nonce} ${formatFence(floor)}` : nonce;
}

function replyTo({ resource }: Pick<Term, 'resource'>, text: string): AcquireReply {
  if (text.startsWith(ACQUIRED)) return { acquired: true, fence: parseFence(text.slice(ACQUIRED.length)) };
  if (text.startsWith(BUSY)) return { acquired: false, remainingMs: Number(text.slice(BUSY.length)) };
  if (text === 'EXHAUSTED') throw new FenceExhaustedError(resource);
  throw new Error(`Expected an answer about ${resource}, got ${JSON.stringify(text)}.`);
}

/** In full what `acquire-session-leases` says in short. */
function answersUnder(count: number, [fence, ...others]: unknown[]): string[] {
  const usual = `${ACQUIRED}${String(fence)}`;
  const answers = Array.from({ length: count }, () => usual);
  for (const other of others.map(String)) {
    const at = other.indexOf(' ');
    answers[Number(other.slice(0, at)) - 1] = other.slice(at + 1);
  }
  return answers;
}

/** A key of the wrong type fails this lease only, not the batch. */
function heeded({ resource }: Pick<Term, 'resource'>, answer: string, ttlMs: number): string {
  if (!answer.startsWith('FAILED')) return answer;
  process.emitWarning(`The lease of ${resource} can not be read: ${answer}`);
  return `BUSY ${ttlMs}`;
}

/** A busy reply has written nothing, so it waits for no replicas. */
function isAcquired(reply: unknown): boolean {
  return [reply].flat().some((answer) => /^\d+$|\bACQUIRED /.test(String(answer)));
}

/** From the positions, counted from 1, of terms that were over: usually none, which is quick to write and to read. */
function answersOf(terms: readonly Term[], over: unknown): boolean[] {
  const answers = terms.map(() => true);
  for (const place of list(over)) answers[Number(place) - 1] = false;
  return answers;
}

/** The same with a session in place of `true`, for a term that lived with it: whether it was over is for that to say. */
function endsOf(terms: readonly Term[], reply: unknown): (boolean | string)[] {
  const answers: (boolean | string)[] = terms.map(() => true);
  for (const entry of list(reply)) {
    const [place, session = false] = String(entry).split(' ');
    answers[Number(place) - 1] = session;
  }
  return answers;
}

/** What the scripts that look say of a holder. */
export function holding([holder = '', fence = '', remaining, since]: string[]): Holding {
  return { holder, fence: parseFence(fence), remainingMs: Number(remaining), acquiredAt: Number(since) };
}

function list(reply: unknown): unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError(`Expected a list as the reply of a lease script, got ${JSON.stringify(reply)}.`);
}
