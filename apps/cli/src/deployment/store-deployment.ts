import { parseFence, systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import {
  CatalogMovedError,
  CronDirectory,
  DeclaredCronError,
  importLines,
  JournalFeed,
  journalOfRun,
  lineOf,
  LeaseMovedError,
  ORDER_RECORDS,
  readLivePods,
  presentHeldLease,
  presentJournalEntry,
  presentLease,
  presentMute,
  presentOwnLease,
  presentPause,
  presentPodList,
  presentRun,
  presentRunReport,
  presentWhyReport,
  Telemetry,
  type RecordPart,
} from '../jobs.js';
import { iso } from '../report.js';
import type { Store } from '../store/store.js';
import type { World } from '../world.js';
import { Audited, cronIn, cuttable, definedAs, runIn } from './audited.js';
import { presentHolding, presentOwnWatch, presentWatch } from './watched.js';
import { needsHistories, type Attention, type CronQuery } from './cron-query.js';
import type {
  Answers,
  BackfillOrder,
  BulkOrder,
  ClearedLease,
  ClearedOwnLease,
  Deployment,
  Following,
  PauseOrder,
} from './deployment.js';

/** A deployment by way of its stores: needs no pod, and whoever is logged in is on record for what is ordered. */
export class StoreDeployment implements Deployment {
  readonly #store: Store;
  readonly #directory: CronDirectory;
  readonly #audited: Audited;

  constructor(
    store: Store,
    private readonly world: World,
    by: string | undefined,
  ) {
    const { view: catalog, ledger, leaseStore: leases, revisions, clock } = store;
    this.#store = store;
    this.#directory = new CronDirectory({ catalog, ledger, leases, revisions }, clock);
    this.#audited = new Audited(store.audit, world, by);
  }

  async crons(query: CronQuery) {
    if (needsHistories(query)) await this.#directory.readHistories();
    const page = await this.#directory.page(query);
    await this.#tellElsewhere();
    return { ...page, unread: 0 };
  }

  async attention(limit: number): Promise<Attention> {
    const { items: crons } = await this.crons({ sort: 'attention', limit });
    // The doctor takes longer than a look: what it finds is a command of its own.
    const [triage, counts] = await Promise.all([this.#directory.triage(), this.#directory.counts()]);
    const { prefix, tenant } = this.#store;
    return { prefix, tenant, crons, counts, triage };
  }

  cron(name: string) {
    return this.#directory.detail(name);
  }

  async runs(...[cron, query]: Parameters<Deployment['runs']>) {
    return (await this.#store.runs.latest(cron, query)).map(presentRun);
  }

  async run(runId: string, forEach: readonly string[]) {
    const report = await this.#store.runs.inspect(runId, forEach);
    // Hints, and no more: without them there is still all that the ledger knows.
    const journal = await journalOfRun(this.#store.journal, report.run).catch(() => []);
    return { ...presentRunReport(report), journal: journal.map(presentJournalEntry) };
  }

  async runsIn(...[state, query]: Parameters<Deployment['runsIn']>) {
    const runs = await this.#store.runs[state](query);
    await this.#tellElsewhere();
    return runs.map(presentRun);
  }

  async why(cron: string, time: string) {
    return presentWhyReport(await this.#store.why.why(cron, time));
  }

  async pods() {
    return presentPodList(await readLivePods(this.#store));
  }

  async leases(filter: Parameters<Deployment['leases']>[0]) {
    const { held, free } = await this.#store.leases.list(filter);
    return { held: held.map(presentHeldLease), free };
  }

  async ownLeases(...[filter, { limit, after }]: Parameters<Deployment['ownLeases']>) {
    const { items, next } = await this.#store.leases.own.list(filter, limit, after);
    return { items: items.map(presentOwnLease), next };
  }

  async ownLeasesNamed(resource: string) {
    return (await this.#store.leases.own.named(resource)).map(presentOwnLease);
  }

  async doctor() {
    return [...(await this.#store.doctor.examine())];
  }

  async follow({ after, signal, show, onTrouble }: Following) {
    const telemetry = new Telemetry();
    telemetry.listen((_event, detail) => onTrouble(String(Reflect.get(detail, 'err'))));
    const feed = new JournalFeed({ journal: this.#store.journal, clock: this.#store.clock, telemetry });
    feed.subscribe((entry) => show(presentJournalEntry(entry)), after);
    while (!signal.aborted) await sleep(systemClock, DAY_MS, signal);
    await feed.stop();
  }

  async pause(cron: string, { reason, ...order }: PauseOrder) {
    const { operator, ledger } = this.#store;
    const until = await this.#endOf(order);
    const { paused } = await ledger.readCron(cron);
    const about = { ...ORDER_RECORDS.pause, cron, reason, before: paused && presentPause(paused) };
    const pause = await this.#audited.order(about, (by) => operator.pause(cron, { by, reason, until }));
    return presentPause(pause);
  }

  async resume(...[cron, order]: Parameters<Deployment['resume']>) {
    const { paused } = await this.#store.ledger.readCron(cron);
    const before = paused && presentPause(paused);
    const about = { ...ORDER_RECORDS.resume, cron, reason: order.reason, before };
    const done = await this.#audited.order(about, (by) => this.#store.operator.resume(cron, { by, ...order }));
    return { ended: done.ended && presentPause(done.ended), runId: done.runId };
  }

  trigger(...[cron, order]: Parameters<Deployment['trigger']>) {
    const about = { ...ORDER_RECORDS.trigger, cron, reason: order.reason ?? null };
    return this.#audited.order(about, (by) => this.#store.operator.trigger(cron, { by, ...order }));
  }

  async orderMany(order: BulkOrder): Promise<Answers['BulkResult']> {
    const { operator } = this.#store;
    const asked = { ...order, until: await this.#endOf(order) };
    if (order.dryRun) return operator.orderMany({ ...asked, by: this.#audited.by });
    const about = { ...ORDER_RECORDS.many(order), cron: null, reason: order.reason };
    return this.#audited.order(about, (by) => operator.orderMany({ ...asked, by }));
  }

  async backfill(cron: string, order: BackfillOrder): Promise<Answers['Backfill']> {
    const { reason, dryRun, interrupted, ...rest } = order;
    const given = { ...rest, reason, dryRun, signal: interrupted() };
    const about = { ...ORDER_RECORDS.backfill(order), cron, reason, changed: () => !dryRun };
    const done = await this.#audited.order(about, (by) => this.#store.operator.backfill(cron, { by, ...given }));
    return { ...done, runIds: [...done.runIds], open: [...done.open], nextFrom: iso(done.nextFrom) };
  }

  importCrons(...[lines, order]: Parameters<Deployment['importCrons']>) {
    const { reason } = order;
    const record: RecordPart = (part, work) => this.#audited.order({ reason, ...part }, work);
    return importLines(this.#store.crons, lines, { ...order, by: this.#audited.by, record });
  }

  async *exportCrons(tag: string | undefined) {
    let piece = '';
    for await (const cron of this.#store.crons.export({ tag })) {
      piece += `${lineOf(cron)}\n`;
      if (piece.length < PIECE) continue;
      yield piece;
      piece = '';
    }
    if (piece !== '') yield piece;
  }

  async remove(...[cron, order]: Parameters<Deployment['remove']>) {
    const before = await definedAs(this.#store, cron);
    const about = { ...ORDER_RECORDS.remove, cron, reason: order.reason, before };
    const work = (by: string) => this.#store.crons.remove(cron, { by, ...order });
    try {
      const { declaredBy } = await this.#audited.order(about, work);
      return { by: this.#audited.by, declaredBy };
    } catch (error) {
      if (error instanceof CatalogMovedError || error instanceof DeclaredCronError) return error;
      throw error;
    }
  }

  async cancel(...[runId, order]: Parameters<Deployment['cancel']>) {
    const about = { ...ORDER_RECORDS.cancel, reason: order.reason, ...(await this.#about(runId)) };
    const reply = await this.#audited.order(about, (by) => this.#store.operator.cancel(runId, { by, ...order }));
    return reply.verdict === 'cancelling' ? { ...reply, until: iso(reply.until) } : reply;
  }

  async retry(...[runId, order]: Parameters<Deployment['retry']>) {
    const about = { action: 'retry', reason: order.reason, ...(await this.#about(runId)) };
    return this.#audited.order(about, (by) => this.#store.runs.retry(runId, { by, ...order }));
  }

  async resolve(...[runId, order]: Parameters<Deployment['resolve']>): Promise<Answers['Resolved']> {
    const { state, unresolvedEffect } = (await runIn(this.#store, runId)) ?? { state: null, unresolvedEffect: null };
    const before = { state, asks: unresolvedEffect?.effect ?? null };
    const about = { ...ORDER_RECORDS.resolve(order.answer), reason: order.reason, cron: cronIn(runId), runId, before };
    return this.#audited.order(about, (by) => this.#store.runs.resolve(runId, { by, ...order }));
  }

  async clearLease(...[cron, { reason, fence }]: Parameters<Deployment['clearLease']>) {
    const { leases } = this.#store;
    try {
      // It writes its own record: it alone knows whom it was taken from.
      const order = { fence: parseFence(fence), reason, ...this.#audited.who };
      const done = await cuttable(leases.clear(cron, order));
      const watch: ClearedLease['watch'] = async (ms, signal) =>
        presentWatch(await leases.watchDuplicates(cron, ms, { marker: done.marker, signal }));
      return { cleared: presentLease(done.cleared), next: presentHolding(cron, done.next), watch };
    } catch (error) {
      if (!(error instanceof LeaseMovedError)) throw error;
      return { message: error.message, found: presentHolding(cron, error.found) };
    }
  }

  async clearOwnLease(...[lease, { reason }]: Parameters<Deployment['clearOwnLease']>) {
    const { own } = this.#store.leases;
    const { kind, resource } = lease;
    const term = { kind, resource, fence: parseFence(lease.fence), holder: lease.holder };
    try {
      const order = { kind, fence: term.fence, isDownstreamSafe: true, reason, ...this.#audited.who };
      const { cleared, next } = await cuttable(own.clear(resource, order));
      const watch: ClearedOwnLease['watch'] = async (ms, signal) => presentOwnWatch(await own.watch(term, ms, signal));
      return { cleared: presentOwnLease(cleared), next: next && presentOwnLease(next), watch };
    } catch (error) {
      if (!(error instanceof LeaseMovedError)) throw error;
      return { message: error.message, found: presentHolding(resource, error.found) };
    }
  }

  async mutes() {
    return (await this.#store.mutes.list()).map(presentMute);
  }

  async mute(...[target, order]: Parameters<Deployment['mute']>) {
    // A wrong name would leave the right one loud.
    if ('cron' in target) await this.cron(target.cron);
    const about = { ...ORDER_RECORDS.mute(target), reason: order.reason };
    return presentMute(await this.#audited.order(about, (by) => this.#store.mutes.set(target, { ...order, by })));
  }

  async unmute(...[target, { reason }]: Parameters<Deployment['unmute']>) {
    const about = { ...ORDER_RECORDS.unmute(target), reason };
    const ended = await this.#audited.order(about, () => this.#store.mutes.end(target));
    return { ended: ended && presentMute(ended) };
  }

  async place() {
    return this.#store;
  }

  /** By the store's clock, as everything that is about crons. */
  async #endOf({ until, forMs }: Pick<PauseOrder, 'until' | 'forMs'>): Promise<number | null> {
    return forMs === undefined ? (until ?? null) : (await this.#store.catalog.read([])).readAt + forMs;
  }

  /** Where there are no crons at all, they may be under another prefix. */
  async #tellElsewhere(): Promise<void> {
    const places = await this.#store.elsewhere();
    if (places !== null) this.world.err(`${places}\n`);
  }

  async #about(runId: string) {
    const { state } = (await runIn(this.#store, runId)) ?? { state: null };
    return { cron: cronIn(runId), runId, before: { state } };
  }
}

/** Printed at once. */
const PIECE = 16_384;

/** As long as a timer may be set without a thought. */
const DAY_MS = 24 * 3_600_000;
