import type { Clock } from '@fencepost/lease';
import {
  Schedules,
  happeningOf,
  pingMessages,
  pingOf,
  webhookMessages,
  type AlarmChange,
  type AlarmQueue,
  type Webhook,
} from '@fencepost/jobs/internal';
import { candidates, firstOf, firstTwoOf, type SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import type { Telemetry } from '@fencepost/jobs';
import type { OccurrenceLog, RunHistory } from '@fencepost/ledger';
import type { AlarmStore } from './alarm-store.js';
import { Mutes } from './mutes.js';
import { isWatched } from './evaluate-rules.js';
import { AlarmMonitor, type Watch } from './alarm-monitor.js';

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

  constructor(private readonly deps: MonitorAssignmentDeps) {
    const { clock, telemetry, ledger, store, lookEveryMs } = deps;
    const schedules = new Schedules({ clock, telemetry });
    const tell = (news: readonly AlarmChange[], now: number) => this.#tell(news, now);
    const watch = () => this.#watch();
    const mutes = new Mutes(store);
    this.monitor = new AlarmMonitor({ ledger, store, mutes, schedules, clock, telemetry, lookEveryMs, watch, tell });
  }

  #watch(): Watch {
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
    const isOver = (cron: string) => {
      const entered = pod.catalogCache.get(cron);
      const isTheirs = watched.some(({ entry }) => entry.definition.name === cron);
      // Before the catalog was read nothing is known, and then nothing is over.
      return !isTheirs && pod.knownAt > -Infinity && firstOf(entered?.hash ?? 0, pods) === name;
    };
    return { crons: mine.map(({ entry }) => entry), isOver };
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
