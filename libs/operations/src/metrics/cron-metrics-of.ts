import type { Clock } from '@fencepost/lease';
import type { MetricsRegistry } from '@fencepost/lease/metrics';
import type { Telemetry } from '@fencepost/jobs';
import { CronLabels, DEFAULT_CRONS, mostOf, type CronsTold } from './cron-labels.js';
import { CronObserver } from './cron-observer.js';
import { countEvents } from './event-counts.js';
import { HeldGauges } from './held-gauges.js';
import { forgetCron, instruments, type Instruments } from './instruments.js';
import { LastSuccess } from './last-success.js';
import type { MetricSources } from './sources.js';
import { StoreGauges } from './store-gauges.js';

export interface CronMetricsDeps {
  readonly registry: MetricsRegistry;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sources: MetricSources;
  /** How many crons have series of their own; default {@link DEFAULT_CRONS}. */
  readonly crons?: CronsTold;
}

export interface CronMetrics {
  /** Chooses the crons that are told apart, before anything is counted. */
  begin(): Promise<void>;
  /** Counts nothing any more; what was counted stays in the registry. */
  stop(): void;
}

/**
 * Counts everything about crons and their runs into a registry, from the events of this process; gauges are looked up when the
 * registry is read.
 * @throws {SetupError} when the registry has these metrics already
 */
export function cronMetrics({
  registry,
  telemetry,
  clock,
  sources,
  crons = DEFAULT_CRONS,
}: CronMetricsDeps): CronMetrics {
  const count: Instruments = instruments({ registry, look: () => observer.look() });
  const lastSuccess = new LastSuccess(count.lastSuccess);
  const labels = new CronLabels(mostOf(crons), (cron) => {
    forgetCron(count, cron);
    lastSuccess.forget(cron);
  });
  const parts = { count, labels, clock, lastSuccess };
  const heldGauges = new HeldGauges(parts);
  const storeGauges = new StoreGauges({ ...parts, telemetry, sources });
  const observer = new CronObserver({ ...parts, sources, heldGauges, storeGauges });
  const stop = telemetry.listen(countEvents(parts));
  return { begin: () => observer.choose(), stop };
}
