import { NO_FENCE, parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { Registry } from 'prom-client';
import type { CatalogEntry, CronDefinition } from '@fencepost/ledger/catalog';
import type { Run, SkipRange } from '@fencepost/ledger/run';
import type { CronsTold } from './cron-labels.js';
import { type HeldCron, holdCron } from '@fencepost/jobs/internal/scheduling';
import { Telemetry } from '@fencepost/jobs';
import { cronMetrics, type CronMetrics } from './cron-metrics-of.js';
import type { MetricSources } from './sources.js';
import { leaseOf } from '../../../../test/support/planning-stage.js';
import { readMetrics, valueOf, type Family } from '../../../../test/support/prometheus-text.js';
import { definition } from '../../../../test/support/scheduler-stage.js';

const NOON = Date.UTC(2030, 0, 1, 12);

const PAUSE = { since: NOON, until: null, by: 'ada', reason: 'x' };
const NOTHING = { fence: NO_FENCE, cursor: null, generation: 1, refusals: 0, droppedNotifications: null };

/** Metrics over sources that a test sets, with a clock that it turns. */
export class MetricsStage {
  readonly registry = new Registry();
  readonly telemetry = new Telemetry();
  readonly clock = new ManualClock(NOON);
  readonly metrics: CronMetrics;
  entries: CatalogEntry[] = [];
  held: HeldCron[] | null = null;
  behind: ReturnType<MetricSources['behind']> = null;
  jobs: () => Promise<Record<string, number>> = async () => ({});
  uncertain: Pick<Run, 'cron'>[] = [];
  runs: Pick<Run, 'cron' | 'state' | 'finishedAt'>[] = [];
  paused = new Set<string>();
  skips: SkipRange[] = [];
  cards: Awaited<ReturnType<MetricSources['pods']>> = [];
  standing: Awaited<ReturnType<MetricSources['standstills']>> = [];

  constructor(crons?: CronsTold) {
    const { registry, telemetry, clock } = this;
    const sources: MetricSources = {
      standstills: async () => this.standing,
      leasesDownMs: () => null,
      pod: 'pod-1/own',
      app: 'shop',
      ledger: {
        readCrons: async (crons3) =>
          crons3.map((cron) => ({ ...NOTHING, paused: this.paused.has(cron) ? PAUSE : null })),
        newestSkips: async (names) => names.map(() => this.skips),
        newestRuns: async (names) => names.map((name) => this.runs.filter(({ cron }) => cron === name) as Run[]),
        runsIn: async (_, crons2) => this.uncertain.filter(({ cron }) => crons2.includes(cron)) as Run[],
      },
      catalog: async () => this.entries,
      held: () => this.held,
      behind: () => this.behind,
      queueJobs: () => this.jobs(),
      pods: async () => this.cards,
    };
    this.metrics = cronMetrics({ registry, telemetry, clock, sources, ...(crons === undefined ? {} : { crons }) });
  }

  declare(over: Partial<CronDefinition>): CatalogEntry {
    const entry: CatalogEntry = {
      definition: definition(over),
      ...{ generation: 1, state: 'active', since: NOON - 7 * 86_400_000, by: 'a test', reason: null, past: [] },
      ...{ app: null, revision: null, zoneData: '2025c' },
    };
    this.entries = [...this.entries, entry];
    return entry;
  }

  /** As a scheduler that has read where the cron stands. */
  hold(entry: CatalogEntry, cursor: number | null = NOON): HeldCron {
    const held = { ...holdCron(entry, leaseOf(entry.definition.name, 1)), known: true, cursor };
    this.held = [...(this.held ?? []), held];
    return held;
  }

  succeed(cron: string, tookMs = 1_000): void {
    const run = { cron, runId: `${cron}@1`, attempt: 1, fence: parseFence('1') };
    this.telemetry.emit('attempt.succeeded', { ...run, tookMs });
  }

  claim(cron: string, lateByMs = 0): void {
    const about = { cron, runId: `${cron}@1`, fence: parseFence('1'), lateByMs };
    this.telemetry.emit('occurrence.claimed', { ...about, reason: 'schedule' });
  }

  async page(): Promise<Map<string, Family>> {
    // What was looked up is shown for a second.
    await this.clock.advance(1_000);
    return readMetrics(await this.registry.metrics());
  }

  async value(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    return valueOf(await this.page(), name, labels);
  }
}
