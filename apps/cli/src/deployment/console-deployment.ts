import { FencepostError, parseFence, systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { UsageError } from '../exit.js';
import { DuplicateWatch, OwnLeaseWatch, type TriggerReply } from '../jobs.js';
import { iso } from '../report.js';
import type { World } from '../world.js';
import type { ConsoleAddress } from './console-address.js';
import {
  answered,
  authorization,
  awayFrom,
  consoleClient,
  ConsoleRefusal,
  refusalOf,
  refused,
  type ConsoleClient,
} from './console-client.js';
import type { Attention, CronQuery } from './cron-query.js';
import type {
  Answers,
  BackfillOrder,
  BulkOrder,
  Cancelled,
  ClearedLease,
  ClearedOwnLease,
  Deployment,
  Following,
  MovedLease,
  PauseOrder,
  ResolveOrder,
} from './deployment.js';
import { lookAt, presentOwnWatch, presentWatch, readOwnLease } from './watched.js';
import { backfillInParts } from './console-backfill.js';
import { exportedLines, importInParts } from './console-files.js';
import { cronPage, cronsByPage, removeCron } from './console-crons.js';
import { eventsIn, type Listener } from './journal-stream.js';

/** The most that a page of the API has. */
const LEASES_AT_ONCE = 1_000;
const RETRY_MS = 1_000;
/** The console sends two heartbeats a second: a stream that is silent for so long has no console at its other end. */
const SILENT_MS = 10_000;

/** A deployment by way of the API of its console, which records the name of the token for what is ordered. */
export class ConsoleDeployment implements Deployment {
  readonly #api: ConsoleClient;

  constructor(
    private readonly address: ConsoleAddress,
    world: Pick<World, 'patienceMs'>,
  ) {
    this.#api = consoleClient(address, world.patienceMs);
  }

  crons(query: CronQuery) {
    return cronsByPage(this.#api, query);
  }

  async attention(limit: number): Promise<Attention> {
    const [{ items: crons }, triage, { prefix, tenant, crons: counts }] = await Promise.all([
      cronPage(this.#api, { sort: 'attention', limit }),
      answered(this.#api.GET('/api/triage')),
      this.#overview(),
    ]);
    return { prefix, tenant, crons, counts, triage };
  }

  cron(cron: string) {
    return answered(this.#api.GET('/api/crons/{cron}', { params: { path: { cron } } }));
  }

  async runs(...[cron, query]: Parameters<Deployment['runs']>) {
    return (await answered(this.#api.GET('/api/crons/{cron}/runs', { params: { path: { cron }, query } }))).items;
  }

  async run(id: string, forEach: readonly string[]) {
    const params = { path: { id }, query: { forEach: [...forEach] } };
    const page = await answered(this.#api.GET('/api/runs/{id}', { params }));
    const { run, effects, items, unresolvedEffect, journal } = page;
    return { run, effects, items, unresolvedEffect, journal };
  }

  async runsIn(...[state, query]: Parameters<Deployment['runsIn']>) {
    return (await answered(this.#api.GET('/api/runs', { params: { query: { state: [state], ...query } } }))).items;
  }

  why(cron: string, at: string) {
    return answered(this.#api.GET('/api/crons/{cron}/why', { params: { path: { cron }, query: { at } } }));
  }

  async pods() {
    return answered(this.#api.GET('/api/pods'));
  }

  async leases(filter: Parameters<Deployment['leases']>[0]) {
    const held: Answers['HeldLease'][] = [];
    for (let cursor: string | null = null; ;) {
      const query = { ...filter, limit: LEASES_AT_ONCE, ...(cursor !== null && { cursor }) };
      const page: Answers['LeasePage'] = await answered(this.#api.GET('/api/leases', { params: { query } }));
      held.push(...page.items);
      cursor = page.next;
      if (cursor === null) return { held, free: page.free };
    }
  }

  ownLeases(...[{ resource, ...filter }, { limit, after: cursor }]: Parameters<Deployment['ownLeases']>) {
    const query = {
      ...filter,
      limit,
      ...(cursor !== undefined && { cursor }),
      ...(resource !== undefined && { search: resource }),
    };
    return answered(this.#api.GET('/api/own-leases', { params: { query } }));
  }

  async ownLeasesNamed(resource: string) {
    return (await answered(this.#api.GET('/api/own-leases', { params: { query: { resource } } }))).items;
  }

  async doctor() {
    return (await answered(this.#api.GET('/api/doctor'))).items;
  }

  /** Goes on after the last entry that was shown, where a connection ends. */
  async follow({ after, signal, show, onTrouble }: Following) {
    let last = after;
    let isFailing = false;
    const heard = (id: string, entry: Answers['JournalEntry']) => {
      last = id;
      show(entry);
    };
    while (!signal.aborted) {
      try {
        await this.#listen(last, signal, { heard, opened: () => void (isFailing = false) });
      } catch (error) {
        if (error instanceof UsageError) throw error;
        if (!signal.aborted && !isFailing) onTrouble(error instanceof Error ? error.message : String(error));
        isFailing = true;
      }
      if (!signal.aborted) await sleep(systemClock, RETRY_MS, signal);
    }
  }

  async pause(cron: string, { reason, ...order }: PauseOrder) {
    const body = { reason, ...(await this.#endOf(order)) };
    return answered(this.#api.POST('/api/crons/{cron}/pause', { params: { path: { cron } }, body }));
  }

  async orderMany({ until, forMs, ...order }: BulkOrder) {
    const end = await this.#endOf({ ...(until !== undefined && { until }), ...(forMs !== undefined && { forMs }) });
    return answered(this.#api.POST('/api/crons/orders', { body: { ...order, ...end } }));
  }

  resume(...[cron, body]: Parameters<Deployment['resume']>) {
    return answered(this.#api.POST('/api/crons/{cron}/resume', { params: { path: { cron } }, body }));
  }

  async trigger(...[cron, { reason, ...order }]: Parameters<Deployment['trigger']>): Promise<TriggerReply> {
    if (reason === undefined) throw new UsageError('Expected --reason: a console keeps one for each order.');
    const body = { reason, ...order };
    try {
      const path = '/api/crons/{cron}/trigger';
      return { verdict: 'claimed', ...(await answered(this.#api.POST(path, { params: { path: { cron } }, body }))) };
    } catch (error) {
      return refused(error, 'STATE_CONFLICT').details as TriggerReply;
    }
  }

  backfill(cron: string, order: BackfillOrder) {
    const params = { path: { cron } };
    return backfillInParts(order, (body) => answered(this.#api.POST('/api/crons/{cron}/backfill', { params, body })));
  }

  remove(cron: string, query: Parameters<Deployment['remove']>[1]) {
    return removeCron(this.#api, cron, query);
  }

  async cancel(...[id, body]: Parameters<Deployment['cancel']>): Promise<Cancelled> {
    try {
      const params = { path: { id } };
      const { state, until } = await answered(this.#api.POST('/api/runs/{id}/cancel', { params, body }));
      return state === 'cancelling' ? { verdict: state, until: until ?? '' } : { verdict: state };
    } catch (error) {
      if (error instanceof ConsoleRefusal && error.problem === 'RUN_UNKNOWN') return { verdict: 'missing' };
      return refused(error, 'STATE_CONFLICT').details as Cancelled;
    }
  }

  importCrons(...[lines, order]: Parameters<Deployment['importCrons']>) {
    return importInParts(this.#api, lines, order);
  }

  exportCrons = (tag: string | undefined) => exportedLines(this.address, tag);

  retry(...[id, body]: Parameters<Deployment['retry']>) {
    return answered(this.#api.POST('/api/runs/{id}/retry', { params: { path: { id } }, body }));
  }

  resolve(id: string, { since, ...order }: ResolveOrder) {
    const body = { ...order, since: iso(since) };
    return answered(this.#api.POST('/api/runs/{id}/resolve', { params: { path: { id } }, body }));
  }

  async clearLease(...[cron, body]: Parameters<Deployment['clearLease']>) {
    try {
      const params = { path: { cron } };
      const [{ now }, first] = [await this.#overview(), await lookAt(this, cron)];
      const duplicates = new DuplicateWatch(cron, DuplicateWatch.markerOf(Date.parse(now), first));
      const { cleared, next } = await answered(this.#api.POST('/api/leases/{cron}/clear', { params, body }));
      const watch: ClearedLease['watch'] = async (ms, signal) =>
        presentWatch(await duplicates.follow(() => lookAt(this, cron), ms, { clock: systemClock, signal }));
      return { cleared, next, watch };
    } catch (error) {
      const { details, message } = refused(error, 'LEASE_MOVED');
      return { ...(details as Omit<MovedLease, 'message'>), message };
    }
  }

  async clearOwnLease(...[lease, { reason }]: Parameters<Deployment['clearOwnLease']>) {
    const { kind, resource, fence, holder } = lease;
    const looking = new OwnLeaseWatch({ kind, resource, fence: parseFence(fence), holder });
    const look = async () => (await this.ownLeasesNamed(resource)).map(readOwnLease);
    try {
      const body = { kind, resource, fence, reason, downstreamSafe: true as const };
      const done = await answered(this.#api.POST('/api/own-leases/clear', { body }));
      const watch: ClearedOwnLease['watch'] = async (ms, signal) =>
        presentOwnWatch(await looking.follow(look, ms, { clock: systemClock, signal }));
      return { ...done, watch };
    } catch (error) {
      const { details, message } = refused(error, 'LEASE_MOVED');
      return { ...(details as Omit<MovedLease, 'message'>), message };
    }
  }

  async entries(cron: string) {
    const params = { path: { cron }, query: { limit: 100 } };
    return (await answered(this.#api.GET('/api/crons/{cron}/journal', { params }))).items;
  }

  async mutes() {
    return (await answered(this.#api.GET('/api/mutes'))).items;
  }

  async mute(...[target, order]: Parameters<Deployment['mute']>) {
    const until = order.until ?? Date.parse((await this.#overview()).now) + (order.forMs ?? 0);
    const body = { ...target, reason: order.reason, until: iso(until) };
    return answered(this.#api.POST('/api/mutes', { body }));
  }

  unmute(...[target, { reason }]: Parameters<Deployment['unmute']>) {
    return answered(this.#api.DELETE('/api/mutes', { params: { query: { ...target, reason } } }));
  }

  place() {
    return this.#overview();
  }

  /** By the store's clock, as everything that is about crons. */
  async #endOf({ until, forMs }: Pick<PauseOrder, 'until' | 'forMs'>): Promise<{ until?: string }> {
    const end = forMs === undefined ? until : Date.parse((await this.#overview()).now) + forMs;
    return end === undefined ? {} : { until: iso(end) };
  }

  #overview() {
    return answered(this.#api.GET('/api/overview'));
  }

  async #listen(after: string | null, ending: AbortSignal, listener: Listener): Promise<void> {
    const headers = { ...authorization(this.address), ...(after !== null && { 'last-event-id': after }) };
    const unheard = new AbortController();
    const arm = () => systemClock.after(SILENT_MS, () => unheard.abort(new DOMException('silent', 'TimeoutError')));
    let disarm = arm();
    try {
      const signal = AbortSignal.any([ending, unheard.signal]);
      const response = await fetch(`${this.address.url}/api/events`, { headers, signal, redirect: 'manual' });
      const isStream = /^text\/event-stream\b/.test(response.headers.get('content-type') ?? '');
      if (!response.ok || !isStream || !response.body) {
        throw refusalOf(response, await response.text(), { address: this.address, isOrder: false });
      }
      listener.opened();
      for await (const { id, event, data = '' } of eventsIn(response.body)) {
        disarm();
        disarm = arm();
        if (event === 'journal' && id !== undefined) listener.heard(id, JSON.parse(data) as Answers['JournalEntry']);
      }
    } catch (error) {
      if (error instanceof FencepostError) throw error;
      throw awayFrom(error, { address: this.address, timeoutMs: SILENT_MS, isOrder: false });
    } finally {
      disarm();
    }
  }
}
