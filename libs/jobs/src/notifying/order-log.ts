import { randomUUID } from 'node:crypto';
import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { RunHistory } from '@fencepost/ledger';
import type { AuditRecord, AuditTrail } from '@fencepost/ledger/audit-trail';
import { cronOfRun, type Run } from '@fencepost/ledger/run';
import { reportStoreFailure } from '../telemetry/report-failure.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface OrderLogDeps {
  readonly trail: Pick<AuditTrail, 'take'>;
  readonly ledger: Pick<RunHistory, 'readRun'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Between two looks, while there are orders. */
  readonly lookEveryMs: number;
}

/** Without orders, looks become rarer, until one is taken this many times as seldom: what is found is only logged. */
const MAX_RARITY = 4;

/** Each this much rarer than the one before it. */
const RARER = 1.5;

/**
 * Reports the runs that operators end. Nobody else would: such a run has no attempt that fails, and the order may have come from
 * a command line, which writes no log. Every scheduler pod reads the audit trail, and each record is given to one of them.
 */
export class OrderLog {
  #cancel: CancelTimer = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;
  #rarity = 1;
  /** Kept after a failure: the reply may have got lost, and its records with it. */
  #nonce = randomUUID();

  constructor(private readonly deps: OrderLogDeps) {}

  /** Resolves after the first look, which finds the end of a trail that nobody has read: later orders are reported. */
  async start(): Promise<void> {
    if (this.#stopped) return;
    this.#looking = this.look().then(() => this.#arm());
    await this.#looking;
  }

  /** Resolves when the look in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Never rejects. */
  async look(): Promise<void> {
    const { trail, telemetry } = this.deps;
    try {
      const records = await trail.take(this.#nonce);
      this.#nonce = randomUUID();
      if (records.length > 0) this.#rarity = 1;
      for (const record of records) await this.#report(record);
    } catch (error) {
      reportStoreFailure(telemetry, { operation: 'orders.read' }, error);
    }
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#cancel = this.deps.clock.after(this.deps.lookEveryMs * this.#rarity, () => void this.start());
    this.#rarity = Math.min(this.#rarity * RARER, MAX_RARITY);
  }

  async #report({ action, runId, by, reason: said, after }: AuditRecord): Promise<void> {
    if (runId === null || (action !== 'cancel' && action !== 'resolve')) return;
    // The record says enough without it.
    const run = await this.deps.ledger.readRun(runId).catch(() => null);
    const about = { cron: cronOfRun(runId), runId, ...instantOf(run), by, reason: said ?? '' };
    if (action === 'resolve') {
      if (isGivenUp(after, run)) this.deps.telemetry.emit('run.given-up', about);
      return;
    }
    const verdict = cancelledBy(after, run);
    if (verdict !== null) this.deps.telemetry.emit('run.cancelled', { ...about, verdict });
  }
}

function instantOf(run: Run | null): { readonly scheduledAt: number | null; readonly attempt: number } {
  return { scheduledAt: run?.scheduledAt ?? null, attempt: run?.attempt ?? 0 };
}

/** An order whose reply got lost has an error for its result: then the run says what has become of it. */
function isGivenUp(after: unknown, run: Run | null): boolean {
  const { answer, error } = Object(after) as { readonly answer?: unknown; readonly error?: unknown };
  if (error === undefined) return answer === 'give-up';
  return run?.state === 'failed' && run.error?.startsWith('given up by ') === true;
}

function cancelledBy(after: unknown, run: Run | null): 'cancelled' | 'cancelling' | null {
  const { verdict, error } = Object(after) as { readonly verdict?: unknown; readonly error?: unknown };
  if (error === undefined) return verdict === 'cancelling' ? verdict : 'cancelled';
  if (run?.state === 'cancelled') return 'cancelled';
  return run?.cancel ? 'cancelling' : null;
}
