import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { OccurrenceLog, OperatorLog, RunHistory, TriggerReply } from '@fencepost/ledger';
import { isTerminal, occurrenceId } from '@fencepost/ledger/run';
import { MAX_PRIORITY, deliver, type DeliveryPorts } from '@fencepost/jobs/internal';
import {
  outcomeOf,
  BackfillTally,
  type BackfillPart,
  type BackfillProgress,
  type BackfillReport,
} from './backfill-report.js';
import { madeAt, MAX_RERUNS } from './backfill-preview.js';
import type { BackfillInstant } from './plan-backfill.js';

export interface BackfillPorts extends DeliveryPorts {
  readonly ledger: Pick<OperatorLog, 'trigger'> & Pick<OccurrenceLog, 'confirm'> & Pick<RunHistory, 'readRun'>;
  readonly clock: Clock;
  readonly randomUUID: () => string;
}

export interface BackfillJob extends BackfillPart {
  readonly entry: CatalogEntry;
  readonly instants: readonly BackfillInstant[];
  readonly by: string;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: BackfillProgress) => void) | undefined;
}

/** Instants that are asked for at once. */
const BATCH = 50;
/** The next batch waits until no more of the runs before are open: a cron's line has 100 places, for its own runs too. */
const MAX_OPEN = 20;
const LOOK_EVERY_MS = 500;

/** Makes up for instants, batch after batch, oldest first. */
export class Backfill {
  readonly #tally = new BackfillTally();
  readonly #open: Set<string>;
  /** Monotonic. */
  readonly #until: number;
  #asked = 0;

  constructor(
    private readonly ports: BackfillPorts,
    private readonly job: BackfillJob,
  ) {
    this.#open = new Set(job.open);
    this.#until = ports.clock.monotonic() + (job.forMs ?? Infinity);
  }

  /** @throws what the ledger throws; what was accepted until then is delivered, and asking again goes on */
  async run(): Promise<BackfillReport> {
    const { entry, instants } = this.job;
    let done = 0;
    while (done < instants.length && (await this.#queueCapacity())) {
      await this.#ask(instants.slice(done, done + BATCH));
      done = Math.min(done + BATCH, instants.length);
      this.#asked = done;
      this.#notify();
    }
    const aborted = done < instants.length;
    const nextFrom = instants[done]?.scheduledAt ?? null;
    const cron = entry.definition.name;
    return this.#tally.report({ cron, dryRun: false, instants: instants.length, aborted, nextFrom }, this.#waitedFor());
  }

  async #ask(batch: readonly BackfillInstant[]): Promise<void> {
    const replies = await Promise.allSettled(batch.map((instant) => this.#request(instant)));
    const answered = replies.flatMap((reply) => (reply.status === 'fulfilled' ? [outcomeOf(reply.value)] : []));
    for (const outcome of answered) this.#tally.count(outcome);
    const runIds = answered.flatMap((outcome) => ('accepted' in outcome ? [outcome.accepted] : []));
    for (const runId of runIds) this.#open.add(runId);
    await deliver(this.ports, this.job.entry.definition.name, { runIds, how: { priority: MAX_PRIORITY } });
    const failed = replies.find((reply) => reply.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** The natural id first; where that instant was skipped by a run record, a re-run has an id of its own. */
  async #request(instant: BackfillInstant): Promise<TriggerReply> {
    const natural = occurrenceId({ cron: this.job.entry.definition.name, scheduledAt: instant.scheduledAt });
    let reply = await this.#trigger(natural, instant);
    for (let n = 1; n <= MAX_RERUNS && reply.verdict === 'exists' && reply.state === 'skipped'; n += 1) {
      reply = await this.#trigger(`${natural}-r${n}`, instant);
    }
    return reply;
  }

  #trigger(runId: string, { scheduledAt, generation }: BackfillInstant): Promise<TriggerReply> {
    const { entry, by } = this.job;
    const { overlap, maxConcurrency, cancelGraceMs } = entry.definition;
    const { payload = null, handler = null } = generation.definition;
    return this.ports.ledger.trigger({
      runId,
      nonce: this.ports.randomUUID(),
      scheduledAt,
      cronSince: madeAt(entry),
      reason: 'backfill',
      generation: generation.generation,
      by,
      payload: payload === null ? null : JSON.stringify(payload),
      handler,
      missed: null,
      // A range of instants can't all run at once: they stand in line, unless the cron allows them to overlap.
      overlap: overlap === 'allow' ? 'allow' : 'queue-all',
      ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
      ...(cancelGraceMs === undefined ? {} : { cancelGraceMs }),
    });
  }

  /**
   * Waits while the line is long: more would be refused, and the cron's own instants find a place in it.
   * @returns `false` when it was told to end
   */
  async #queueCapacity(): Promise<boolean> {
    const mayOverlap = this.job.entry.definition.overlap === 'allow';
    while (!this.job.signal?.aborted && this.ports.clock.monotonic() < this.#until) {
      if (mayOverlap || this.#open.size <= MAX_OPEN) return true;
      await this.#strikeOutEnded();
      this.#notify();
      if (this.#open.size > MAX_OPEN) await sleep(this.ports.clock, LOOK_EVERY_MS, this.job.signal);
    }
    return false;
  }

  #notify(): void {
    const { instants, onProgress } = this.job;
    const open = this.#waitedFor().length;
    onProgress?.({ instants: instants.length, asked: this.#asked, accepted: this.#tally.accepted, open });
  }

  #waitedFor(): string[] {
    return this.job.entry.definition.overlap === 'allow' ? [] : [...this.#open];
  }

  async #strikeOutEnded(): Promise<void> {
    await Promise.all(
      [...this.#open].map(async (runId) => {
        const run = await this.ports.ledger.readRun(runId);
        if (!run || isTerminal(run.state)) this.#open.delete(runId);
      }),
    );
  }
}
