import type { Clock } from '../base/clock.js';
import type { Fence } from '../base/fence.js';
import { QuorumLeaseStore } from './quorum-lease-store.js';
import { type QuorumMember } from '../store/lease-store.js';
import { type QuorumLeaseStoreOptions } from './quorum-options.js';
import type { AcquireReply, AcquireRequest, Holding, HoldingsPage, StopWatching } from '../store/lease-store.js';
import type { Term } from '../store/grant.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import { ManualClock } from '../testing/manual-clock.js';

/** What the network and the server do to a call. */
export type Behaviour = <T>(serve: () => Promise<T>) => Promise<T>;

export const works: Behaviour = (serve) => serve();
export const isAway: Behaviour = async () => Promise.reject(new Error('connection refused'));
export const isSilent: Behaviour = () => new Promise(() => {});
export const losesReplies: Behaviour = async (serve) => {
  await serve();
  throw new Error('the reply got lost');
};

/** Serves at once and answers when `until` has come. */
export function answersAfter(until: Promise<void>): Behaviour {
  return async (serve) => {
    const answer = await serve();
    await until;
    return answer;
  };
}

/** Gets the request only when `until` has come. */
export function hearsAfter(until: Promise<void>): Behaviour {
  return async (serve) => {
    await until;
    return serve();
  };
}

type CallName = Exclude<keyof QuorumMember, 'watchReleases'>;

/** A member of a quorum whose calls are counted, and go as `behaviour` says. */
export class UnreliableMember implements QuorumMember {
  behaviour: Behaviour = works;
  readonly calls: CallName[] = [];
  /** As it is, past the network. */
  readonly inner: MemoryLeaseStore;

  constructor(inner: MemoryLeaseStore) {
    this.inner = inner;
  }

  countOf(name: CallName): number {
    return this.calls.filter((call) => call === name).length;
  }

  acquire(request: AcquireRequest): Promise<AcquireReply> {
    return this.#call('acquire', () => this.inner.acquire(request));
  }

  renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    return this.#call('renew', () => this.inner.renew(terms, ttlMs));
  }

  release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#call('release', () => this.inner.release(terms));
  }

  raiseFence(term: Term, fence: Fence): Promise<boolean> {
    return this.#call('raiseFence', () => this.inner.raiseFence(term, fence));
  }

  evict(resource: string, fence: Fence): Promise<boolean> {
    return this.#call('evict', () => this.inner.evict(resource, fence));
  }

  inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    return this.#call('inspect', () => this.inner.inspect(resources));
  }

  list(after: string | null, limit: number): Promise<HoldingsPage> {
    return this.#call('list', () => this.inner.list(after, limit));
  }

  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    return this.behaviour(() => this.inner.watchReleases(onReleased));
  }

  #call<T>(name: CallName, serve: () => Promise<T>): Promise<T> {
    this.calls.push(name);
    return this.behaviour(serve);
  }
}

/** A server's wall clock beside the test's own. */
export function skewed(clock: Clock, aheadMs: number): Clock {
  return {
    now: () => clock.now() + aheadMs,
    monotonic: () => clock.monotonic(),
    after: (delayMs, task) => clock.after(delayMs, task),
  };
}

/** Members on one clock, each as far ahead of it as `aheadMs` says. */
export function memoryMembers(clock: Clock, aheadMs: readonly number[]): UnreliableMember[] {
  return aheadMs.map((ms) => new UnreliableMember(new MemoryLeaseStore({ clock: skewed(clock, ms) })));
}

export type ClientOptions = Partial<Omit<QuorumLeaseStoreOptions, 'nodes'>>;

/** A process that uses them. */
export function quorumOf(members: readonly QuorumMember[], options: ClientOptions = {}): QuorumLeaseStore {
  const nodes = members.map((member, n) => ({ name: `node-${n + 1}`, member }));
  return new QuorumLeaseStore({ nodes, longestTtlMs: 3_600_000, random: () => 0.5, ...options });
}

export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

export function gate(): Gate {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

export interface PausableClock extends Clock {
  /** What a process sees that was paused: time has gone on, and no timer has run. */
  pause(ms: number): void;
}

export function pausable(clock: Clock): PausableClock {
  let pausedMs = 0;
  return {
    now: () => clock.now() + pausedMs,
    monotonic: () => clock.monotonic() + pausedMs,
    after: (delayMs, task) => clock.after(delayMs, task),
    pause: (ms) => void (pausedMs += ms),
  };
}

/** The same node as somebody sees it whom the network doesn't let through. */
export function unreachable({ inner }: UnreliableMember): UnreliableMember {
  const member = new UnreliableMember(inner);
  member.behaviour = isAway;
  return member;
}

type Members = readonly [UnreliableMember, UnreliableMember, UnreliableMember, ...UnreliableMember[]];

export interface QuorumStage {
  readonly clock: ManualClock;
  readonly members: Members;
  readonly store: QuorumLeaseStore;
  /** Another process. */
  readonly client: (options?: ClientOptions) => QuorumLeaseStore;
}

/** Some members and a process that uses them; every clock shows the same, unless `aheadMs` says otherwise. */
export function quorumStage(size = 3, aheadMs: readonly number[] = []): QuorumStage {
  const clock = new ManualClock();
  const members = memoryMembers(
    clock,
    Array.from({ length: size }, (_, n) => aheadMs[n] ?? 0),
  ) as unknown as Members;
  const client = (options?: ClientOptions) => quorumOf(members, { clock, ...options });
  return { clock, members, store: client(), client };
}

/** What was asked, after the nodes that don't answer were given up. */
export async function inTime<T>(clock: ManualClock, asked: Promise<T>): Promise<T> {
  asked.catch(() => {});
  await clock.advance(500);
  return asked;
}

/** Who holds `r` on each node. */
export function holdersOf(members: readonly UnreliableMember[]): Promise<(string | undefined)[]> {
  return Promise.all(members.map(async ({ inner }) => (await inner.inspect(['r']))[0]?.holder));
}
