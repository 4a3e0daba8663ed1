import type { LeaseStore } from '../store/lease-store.js';
import type { AcquireReply, AcquireRequest, Holding, StopWatching } from '../store/lease-store.js';
import type { LeaseSessions } from '../store/lease-sessions.js';
import type { Term } from '../store/grant.js';

export type Call = Exclude<keyof LeaseStore, 'sessions'> | `sessions.${keyof LeaseSessions}`;
type Step =
  'fail' | 'hang' | 'lose-reply' | { readonly heldBack: Promise<void> } | { readonly failsAfter: Promise<void> };

/** A store in front of another that counts calls and has its next ones fail, hang, lose their reply or answer late. */
export class LeaseStoreDouble implements LeaseStore {
  readonly calls: { readonly call: Call; readonly resources: string[] }[] = [];
  readonly sessions?: LeaseSessions;
  readonly #steps = new Map<Call, Step[]>();
  readonly #store: LeaseStore;

  /** With the sessions of the other store only if they are asked for. */
  constructor(store: LeaseStore, { sessions }: { readonly sessions?: LeaseSessions | undefined } = {}) {
    this.#store = store;
    if (sessions) this.sessions = this.#inFrontOf(sessions);
  }

  /** What happens to the next calls, in order; after that everything works again. */
  next(call: Call, ...steps: Step[]): void {
    this.#steps.set(call, steps);
  }

  countOf(call: Call): number {
    return this.calls.filter((made) => made.call === call).length;
  }

  acquire(request: AcquireRequest): Promise<AcquireReply> {
    return this.#through('acquire', [request.resource], () => this.#store.acquire(request));
  }

  acquireMany(requests: readonly AcquireRequest[]): Promise<AcquireReply[]> {
    const all = () => Promise.all(requests.map((request) => this.#store.acquire(request)));
    return this.#through('acquireMany', resourcesOf(requests), () => this.#store.acquireMany?.(requests) ?? all());
  }

  renew(terms: readonly Term[], ttlMs: number): Promise<boolean[]> {
    return this.#through('renew', resourcesOf(terms), () => this.#store.renew(terms, ttlMs));
  }

  release(terms: readonly Term[]): Promise<boolean[]> {
    return this.#through('release', resourcesOf(terms), () => this.#store.release(terms));
  }

  inspect(resources: readonly string[]): Promise<(Holding | null)[]> {
    return this.#store.inspect(resources);
  }

  watchReleases(onReleased: (resource: string) => void): Promise<StopWatching> {
    return this.#store.watchReleases(onReleased);
  }

  #inFrontOf(sessions: LeaseSessions): LeaseSessions {
    return {
      open: (session) => this.#through('sessions.open', [], () => sessions.open(session)),
      renew: (session, acknowledged) =>
        this.#through('sessions.renew', resourcesOf(acknowledged), () => sessions.renew(session, acknowledged)),
      close: (session) => this.#through('sessions.close', [], () => sessions.close(session)),
      closeOf: (resource, fence) =>
        this.#through('sessions.closeOf', [resource], () => sessions.closeOf(resource, fence)),
      acquire: (session, requests) =>
        this.#through('sessions.acquire', resourcesOf(requests), () => sessions.acquire(session, requests)),
    };
  }

  async #through<T>(call: Call, resources: string[], ask: () => Promise<T>): Promise<T> {
    this.calls.push({ call, resources });
    const step = this.#steps.get(call)?.shift();
    if (step === 'fail') throw new Error('Connection is closed.');
    if (step === 'hang') return new Promise<T>(() => {});
    const reply = await ask();
    if (step === 'lose-reply') throw new Error('Command timed out');
    if (step === undefined) return reply;
    if ('heldBack' in step) return step.heldBack.then(() => reply);
    return step.failsAfter.then(() => Promise.reject(new Error('Connection is closed.')));
  }
}

function resourcesOf(terms: readonly Pick<Term, 'resource'>[]): string[] {
  return terms.map(({ resource }) => resource);
}
