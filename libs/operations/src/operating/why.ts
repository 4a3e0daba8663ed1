import type { Holding } from '@fencepost/lease/store';
import type { AuditRecord } from '@fencepost/ledger/audit-trail';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Account, CronRecord } from '@fencepost/ledger';
import type { SkipRange } from '@fencepost/ledger/run';
import type { QueueLimits } from '@fencepost/jobs/internal';
import type { JournalEntry } from '../journal/journal.js';
import type { Standstill } from '../alarms/standstills.js';
import type { RunReport } from './run-report.js';
import type { InstantContext } from './why-context.js';
import type { LocalTime } from './why-when.js';

/* What is asked, what is known, and what is answered. Instants are epoch milliseconds. */

export type WhyTopic =
  | ('schedule' | 'generation' | 'pause' | 'misfire' | 'overlap' | 'lease')
  | ('claim' | 'enqueue' | 'attempt' | 'fence' | 'effect' | 'next');

/** One thing that is known about an instant. */
export interface WhyStep {
  readonly topic: WhyTopic;
  readonly at: number | null;
  readonly level: 'ok' | 'note' | 'warn' | 'bad';
  /** One sentence. */
  readonly text: string;
}

/** The answer in a word. */
export type WhyVerdict =
  | ('ran' | 'late' | 'retried' | 'running' | 'waiting' | 'failed' | 'cancelled' | 'uncertain')
  | ('overlap' | 'no-capable-worker' | 'paused' | 'misfire' | 'merged' | 'superseded')
  | ('no-instant' | 'gap' | 'repeat' | 'manual' | 'unborn' | 'clock-behind' | 'disabled' | 'removed')
  | ('due' | 'missed' | 'forgotten' | 'will-run' | 'will-not-run');

export interface Verdict {
  readonly verdict: WhyVerdict;
  readonly answer: string;
  readonly steps: readonly WhyStep[];
}

export interface WhyReport extends Verdict {
  readonly cron: string;
  readonly at: number;
  readonly run: RunReport | null;
  readonly neighbours: InstantContext['neighbours'];
}

/** All that was read to answer. */
export interface WhyFacts {
  readonly entry: CatalogEntry;
  readonly context: InstantContext;
  /** The local time that was asked about, where it was one. */
  readonly asked: LocalTime | null;
  /** The store's clock. */
  readonly now: number;
  readonly record: CronRecord;
  /** What is recorded of the instant and of those around it. */
  readonly account: Account;
  /** The run of the instant; of several the latest. */
  readonly report: RunReport | null;
  /** Orders about the cron, the newest first; `null`: the audit trail could not be read. */
  readonly orders: readonly AuditRecord[] | null;
  /** Of the cron, the newest first; `[]` where nobody keeps one. */
  readonly journal: readonly JournalEntry[];
  /** Who holds the lease now; `null`: nobody, `undefined`: nobody was asked. */
  readonly lease: Holding | null | undefined;
  /** Why it stands still now, as a pod has reported it; `null`: it does not, or that is not known. */
  readonly standstill?: Standstill | null;
  /** Of the queue that its run waits in; `[]` where its run does not wait, or nobody could be asked. */
  readonly queues: readonly QueueLimits[];
}

/** The facts, and the recorded range that the instant lies in. */
export interface InstantFacts extends WhyFacts {
  readonly cron: string;
  readonly range: SkipRange | null;
}

export function step(topic: WhyTopic, text: string, more: Partial<Pick<WhyStep, 'at' | 'level'>> = {}): WhyStep {
  return { topic, at: null, level: 'ok', text, ...more };
}
