import { randomUUID } from 'node:crypto';
import type { Answer, Run, RunState } from '@fencepost/ledger/run';
import {
  OperatorInputError,
  type OperatorOrder,
  type ResolveRequest,
  type RunHistory,
  type UnresolvedEffectRef,
} from '@fencepost/ledger';
import {
  askToLook,
  checkedInstant,
  checkedPayload,
  checkedText,
  deliver,
  deliverAll,
  knownCron,
  runnableCron,
} from '@fencepost/jobs/internal';
import type { CronOperatorPorts } from './cron-operator.js';
import { asksAnother, reportOf, type RunReport } from './run-report.js';
import { rerun } from './rerun.js';
import { byLatest } from './run-order.js';
import { ORDER_RECORDS } from './order-records.js';
import { withOwnAudit } from './with-audit.js';
import { RunStateError, UnknownRunError } from './run-errors.js';

export type RunOperatorPorts = Omit<CronOperatorPorts, 'clock'>;

export interface RunFilter {
  /** Default: all crons of the catalog. */
  readonly cron?: string;
  /** The latest ones, 1 to 1,000; default 50. */
  readonly limit?: number;
}

export interface RetryOrder extends OperatorOrder {
  /** Plain data; default: what the run had. */
  readonly payload?: unknown;
  /** Also while as many runs of its cron are open as may be; default `false`. */
  readonly force?: boolean;
  /** Also where the run has effects of which nobody knows whether they happened; default `false`. They are begun anew. */
  readonly repeatUnknown?: boolean;
}

/** The order names the question that it answers, as {@link Run} has it: the run may ask another one by now. */
export interface ResolveOrder extends OperatorOrder, UnresolvedEffectRef {
  /** It happened; it did not, and is to be done; or the run is not worth it. */
  readonly answer: Answer['verdict'];
  /** With `done`: what the effect brought, plain data; default `null`. */
  readonly result?: unknown;
}

export interface Resolved {
  readonly runId: string;
  /** What the run is now: `enqueued`, or `failed` when it was given up. */
  readonly state: RunState;
}

const MAX_LISTED = 1_000;
const LISTED_AT_ONCE = 500;

/**
 * What people do about runs that failed, or that wait for an answer. Each order leaves an audit record with who asked, and why.
 *
 * Every method rejects with an {@link OperatorInputError} for an order that can't be, with an {@link UnknownRunError} for a
 * run that isn't there, with a {@link RunStateError} for one that is not as it would have to be, with an
 * {@link UnknownCronError} for a cron that isn't there, with what the store throws when it could not be asked, and with an
 * `AuditNotWrittenError` for an order that was carried out and left no record.
 */
export class RunOperator {
  readonly #ports: Required<Omit<RunOperatorPorts, 'audit'>> & Pick<RunOperatorPorts, 'audit'>;

  constructor(ports: RunOperatorPorts) {
    this.#ports = { ...ports, randomUUID: ports.randomUUID ?? randomUUID, reads: ports.reads ?? ports };
  }

  /** Runs that failed for good, the latest first. */
  failed(filter: RunFilter = {}): Promise<Run[]> {
    return this.#runsIn('failed', filter);
  }

  /** Runs that wait for a person's answer, the latest first. */
  uncertain(filter: RunFilter = {}): Promise<Run[]> {
    return this.#runsIn('uncertain', filter);
  }

  /** The newest runs of a cron, skipped ones included. With a state, those in it, of failed and uncertain ones all that are kept. */
  async latest(cron: string, { state, limit }: { readonly state?: RunState; readonly limit: number }): Promise<Run[]> {
    const { catalog, ledger } = this.#ports.reads;
    await knownCron(catalog, cron);
    if (state === 'failed' || state === 'uncertain') return ledger.runsIn(state, [cron], limit);
    const runs = await ledger.runs(cron, state === undefined ? limit : MAX_LISTED);
    return runs.filter((run) => state === undefined || run.state === state).slice(0, limit);
  }

  /**
   * All that is known of a run: its effects, how far it came with the items it asks about, and what it asks.
   * @param forEach names of further `forEach` whose items are wanted: the ledger has them only by their name
   */
  async inspect(runId: string, forEach: readonly string[] = []): Promise<RunReport> {
    const { ledger } = this.#ports.reads;
    return reportOf(ledger, await this.#run(runId, ledger), forEach);
  }

  /**
   * Runs a failed or cancelled run again, as a run of its own: `<id>-r1`, and `-r2` where that one failed too. What was done
   * stays done, with its result, and it goes on from there.
   *
   * An effect that was begun and never ended may have happened, and the new run has another idempotency key for it. So a run
   * with such an effect is refused, unless the order says `repeatUnknown`.
   */
  async retry(runId: string, order: RetryOrder): Promise<{ readonly runId: string }> {
    const asked = checkedOrder(order);
    const given = order.payload === undefined ? undefined : checkedPayload(order.payload);
    const run = await this.#run(runId);
    const about = { ...asked, action: 'retry', cron: run.cron, runId };
    return withOwnAudit(this.#ports.audit, about, () => this.#retry(run, order, given));
  }

  async #retry(run: Run, order: RetryOrder, given: string | null | undefined): Promise<{ readonly runId: string }> {
    checkEnded(run);
    if (order.repeatUnknown !== true) await this.#checkKnown(run);
    const { entry } = await runnableCron(this.#ports.catalog, run.cron);
    const { ledger, randomUUID: uuid } = this.#ports;
    const payload = given === undefined ? run.payload : given;
    const job = { run, entry, by: order.by, payload, force: order.force === true, randomUUID: uuid };
    const reply = await rerun(ledger, job);
    const how = run.priority === null ? {} : { how: { priority: run.priority } };
    await deliver(this.#ports, run.cron, { runIds: [reply.runId], ...how });
    return { runId: reply.runId };
  }

  /**
   * Answers what an uncertain run asks, and nothing else: the order names the question, and is refused with a
   * {@link RunStateError} where the run asks another one by now. After `done` and `not-done` it goes on at
   * once, with one attempt more.
   */
  async resolve(runId: string, order: ResolveOrder): Promise<Resolved> {
    const asked = checkedOrder(order);
    const answer = checkedAnswer(order);
    const unresolvedEffect = checkedUnresolvedEffect(order);
    const { cron } = await this.#run(runId);
    const request = { ...asked, unresolvedEffect, answer, nonce: this.#ports.randomUUID() };
    const about = { ...asked, ...ORDER_RECORDS.resolve(order.answer), cron, runId };
    return withOwnAudit(this.#ports.audit, about, () => this.#resolve(cron, runId, request));
  }

  async #resolve(cron: string, runId: string, request: ResolveRequest): Promise<Resolved> {
    const { unresolvedEffect } = request;
    const reply = await this.#ports.ledger.resolve(runId, request);
    if (reply.verdict === 'asks-another') throw new RunStateError(runId, asksAnother(runId, unresolvedEffect, reply));
    if (reply.verdict === 'missing') throw new UnknownRunError(runId);
    if (reply.verdict === 'certain') {
      throw new RunStateError(
        runId,
        `Run "${runId}" does not wait for an answer; it is ${reply.state}. Nothing was changed.`,
      );
    }
    if (reply.delivery) await deliverAll(this.#ports, cron, [reply.delivery]);
    // A run that was given up has failed: the holder of its cron hands the notification on.
    else await askToLook(this.#ports, cron);
    return { runId, state: reply.state };
  }

  async #runsIn(state: 'failed' | 'uncertain', { cron, limit = 50 }: RunFilter): Promise<Run[]> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED) {
      throw OperatorInputError.of('limit', `a whole number from 1 to ${MAX_LISTED}`, limit);
    }
    const { catalog, ledger } = this.#ports.reads;
    const names = await (cron === undefined ? this.#crons() : knownCron(catalog, cron).then(() => [cron]));
    const runs: Run[] = [];
    for (let at = 0; at < names.length; at += LISTED_AT_ONCE) {
      runs.push(...(await ledger.runsIn(state, names.slice(at, at + LISTED_AT_ONCE), limit)));
    }
    return runs.toSorted(byLatest).slice(0, limit);
  }

  async #crons(): Promise<string[]> {
    return (await this.#ports.reads.catalog.read()).entries.map(({ definition }) => definition.name);
  }

  async #run(runId: string, ledger: Pick<RunHistory, 'readRun'> = this.#ports.ledger): Promise<Run> {
    // An id without its cron would be an error of the ledger's, and is a slip of the person's.
    const run = runId.lastIndexOf('@') < 1 ? null : await ledger.readRun(runId);
    if (run) return run;
    throw new UnknownRunError(runId);
  }

  async #checkKnown({ id }: Run): Promise<void> {
    const effects = await this.#ports.ledger.effects(id);
    const unknown = effects.filter(({ state }) => state === 'begun').map(({ name }) => `"${name}"`);
    if (unknown.length === 0) return;
    throw new RunStateError(
      id,
      `The outcome of these effects of run "${id}" is unknown: ${unknown.join(', ')}. Search the systems they change ` +
        `for the idempotency key "${id}/<effect>". To repeat them anyway, under a new key, use repeatUnknown.`,
    );
  }
}

function checkedOrder({ by, reason }: OperatorOrder): OperatorOrder {
  return { by: checkedText('by', by), reason: checkedText('reason', reason) };
}

function checkEnded({ id, state }: Run): void {
  if (state === 'failed' || state === 'cancelled') return;
  throw new RunStateError(
    id,
    `Only a failed or cancelled run can be run again; "${id}" is ${state}. ${INSTEAD[state] ?? NOT_OVER}`,
  );
}

const NOT_OVER = 'It is still open: wait until it ends, or cancel it first.';
const INSTEAD: Readonly<Partial<Record<RunState, string>>> = {
  succeeded: 'To run it once more, trigger its cron.',
  skipped: 'It has never run: trigger its cron, or backfill the instant.',
  uncertain: 'It waits for an answer: resolve it.',
};

function checkedUnresolvedEffect({ attempt, effect, item, since }: ResolveOrder): UnresolvedEffectRef {
  if (!Number.isSafeInteger(attempt) || attempt < 1)
    throw OperatorInputError.of('attempt', 'the attempt of the run that asks', attempt);
  if (typeof effect !== 'string')
    throw OperatorInputError.of('effect', 'the name of the effect that the run asks about', effect);
  if (item !== null && typeof item !== 'string')
    throw OperatorInputError.of('item', 'the key of an item, or null for none', item);
  return { attempt, effect, item, since: checkedInstant('since', since) };
}

function checkedAnswer({ answer, result }: ResolveOrder): Answer {
  if (answer === 'done') return { verdict: 'done', result: checkedResult(result) };
  if (answer !== 'not-done' && answer !== 'give-up')
    throw OperatorInputError.of('answer', '"done", "not-done" or "give-up"', answer);
  if (result === undefined) return { verdict: answer };
  throw new OperatorInputError(`The answer "${answer}" takes no result; only "done" does.`);
}

function checkedResult(result: unknown): string {
  return checkedPayload(result, 'result') ?? 'null';
}
