import type { Clock } from '@fencepost/lease';
import {
  Schedules,
  happeningOf,
  pingMessages,
  pingOf,
  webhookMessages,
  type AlarmChange,
  type AlarmQueue,
  type PodRegistry,
  type Webhook,
} from '@fencepost/jobs/internal';
import { candidates, firstOf, firstTwoOf, type SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import type { Telemetry } from '@fencepost/jobs';
import type { OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { AlarmStore } from './alarm-store.js';
import { Mutes } from './mutes.js';
import { isWatched } from './evaluate-rules.js';
import { AlarmMonitor, type Watch } from './alarm-monitor.js';
import { standstillsOf, type Standstill } from './standstills.js';

/** Between two readings of the cards of all pods: so many looks. */
const READ_EVERY = 3;

export interface MonitorAssignmentDeps {
  /** This pod, and what it knows of the others. */
  readonly pod: Pick<SchedulerPod, 'members' | 'knownAt'> & {
    readonly catalogCache: Pick<SchedulerPod['catalogCache'], 'get' | 'entries'>;
    readonly engine: Pick<SchedulerPod['engine'], 'held'>;
  };
  /** Its identity. */
  readonly name: string;
  readonly ledger: OccurrenceLog & RunHistory;
  readonly store: AlarmStore;
  /** Pods report which crons stand still. */
  readonly registry: Pick<PodRegistry, 'list'>;
  readonly queue: AlarmQueue;
  readonly webhooks: readonly Webhook[];
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly lookEveryMs: number;
}

/**
 * What a scheduler pod watches: the crons for which it ranks first or second and which it does not hold. The first nearly
 * always holds its own, so the second watches; while some third still has a cron both watch, and tell once.
 */
export class MonitorAssignment {
  readonly monitor: AlarmMonitor;
  #alone = false;
  #standing: { readonly at: number; readonly found: ReadonlyMap<string, Standstill> } | null = null;
  /** Crons that stood still at the look before: their alarms are cleared. */
  #stood: ReadonlySet<string> = new Set();

  constructor(private readonly deps: MonitorAssignmentDeps) {
    const { clock, telemetry, ledger, store, lookEveryMs } = deps;
    const schedules = new Schedules({ clock, telemetry });
    const tell = (news: readonly AlarmChange[], now: number) => this.#tell(news, now);
    const watch = (standing: ReadonlyMap<string, Standstill>) => this.#watch(standing);
    const standstills = () => this.#standstills();
    const mutes = new Mutes(store);
    const ports = { ledger, store, mutes, schedules, clock, telemetry, lookEveryMs };
    this.monitor = new AlarmMonitor({ ...ports, watch, standstills, tell });
  }

  /** The cards of all pods: not at each look of each scheduler. */
  async #standstills(): Promise<ReadonlyMap<string, Standstill>> {
    const { clock, registry, lookEveryMs } = this.deps;
    const now = clock.monotonic();
    if (this.#standing === null || now - this.#standing.at >= READ_EVERY * lookEveryMs)
      this.#standing = { at: now, found: standstillsOf(await registry.list()) };
    return this.#standing.found;
  }

  #watch(standing: ReadonlyMap<string, Standstill>): Watch {
    const { pod, name } = this.deps;
    const pods = candidates(pod.members.map((member) => member.pod));
    const watched = [...pod.catalogCache.entries()].filter(
      ({ entry }) => entry.state !== 'removed' && isWatched(entry.definition),
    );
    const alone = pods.length < 2;
    this.#sayAlone(alone && watched.length > 0, watched.length);
    const mine = watched.filter(({ entry, hash }) => {
      if (!firstTwoOf(hash, pods).includes(name)) return false;
      return alone || pod.engine.held(entry.definition.name) === undefined;
    });
    const stopped = new Set([...standing.keys(), ...this.#stood].filter((cron) => this.#isFirst(cron, pods)));
    for (const { definition } of mine.map(({ entry }) => entry)) stopped.delete(definition.name);
    mine.push(...[...stopped].flatMap((cron) => pod.catalogCache.get(cron) ?? []));
    this.#stood = new Set(standing.keys());
    const isOver = (cron: string) => {
      const entered = pod.catalogCache.get(cron);
      const isTheirs = watched.some(({ entry }) => entry.definition.name === cron);
      // Before the catalog was read nothing is known, and then nothing is over.
      const isStanding = standing.has(cron) || this.#stood.has(cron);
      return !isTheirs && !isStanding && pod.knownAt > -Infinity && firstOf(entered?.hash ?? 0, pods) === name;
    };
    return { crons: mine.map(({ entry }) => entry), isOver };
  }

  #isFirst(cron: string, pods: ReturnType<typeof candidates>): boolean {
    const entered = this.deps.pod.catalogCache.get(cron);
    return entered !== undefined && firstOf(entered.hash, pods) === this.deps.name;
  }

  /** Once, when it begins to be so: whoever runs one pod has chosen it, and whoever lost the others has to know. */
  #sayAlone(alone: boolean, crons: number): void {
    if (alone && !this.#alone) this.deps.telemetry.emit('alarm.alone', { crons });
    this.#alone = alone;
  }

  /** Into the queue first: what was logged and is in no queue would look like somebody had been told. */
  async #tell(news: readonly AlarmChange[], now: number): Promise<void> {
    const { queue, webhooks, telemetry } = this.deps;
    await queue.enqueue(
      news.flatMap((one) =>
        one.muted ? [] : [...webhookMessages(webhooks, happeningOf(one, now)), ...this.#pings(one)],
      ),
    );
    for (const { cron, kind, since, text, news: what, muted } of news)
      telemetry.emit(`alarm.${what}`, { cron, kind, since, text, ...(muted && { muted }) });
  }

  #pings(news: AlarmChange) {
    const ping = pingOf(news);
    if (ping === null) return [];
    const { cron } = news;
    return pingMessages(this.deps.pod.catalogCache.get(cron)?.entry.definition.ping, ping.on, { cron, id: ping.id });
  }
}
