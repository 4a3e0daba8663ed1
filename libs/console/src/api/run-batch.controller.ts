import { Body, Controller, Inject, Post } from '@nestjs/common';
import { OperatorInputError } from '@fencepost/ledger';
import { FencepostError } from '@fencepost/lease';
import { cronOfRun } from '@fencepost/ledger/run';
import { isStoreError } from '@fencepost/jobs/internal';
import { CronOperator, RunOperator, type ResolveOrder } from '@fencepost/operations';
import { CronDirectory } from '@fencepost/operations/internal';
import { CommandService } from './command-service.js';
import { Orders, Tagged } from './describe-route.js';
import type { Checked } from './inputs.js';
import * as runInputs from './run-inputs.js';
import { runIsOver, runIsUnknown } from './problems.js';
import { runBatchSchema } from './run-answers.js';

type BatchOrder = Checked<typeof runInputs.runBatchOrder>;

interface Reason {
  readonly code: string;
  readonly detail: string;
}

interface Batch {
  readonly done: string[];
  readonly failed: (Reason & { readonly runId: string })[];
}

const AWAY = 'STORE_AWAY';
const NOT_TRIED: Reason = { code: AWAY, detail: 'Not tried, because the store did not answer for a run before it.' };

/** The same order to several runs: one audit record, however many there are. */
@Tagged('runs')
@Controller('api/runs')
export class RunBatchController {
  @Inject(CronOperator) private readonly crons!: CronOperator;
  @Inject(RunOperator) private readonly runs!: RunOperator;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;

  @Post('orders')
  @Orders('operator', runBatchSchema, 'Retries, cancels or resolves several runs, one after the other.')
  async order(@Body({ schema: runInputs.runBatchOrder }) order: BatchOrder) {
    const { order: action, runIds, reason } = checked(order);
    const about = {
      ...{ action, reason, before: { runIds } },
      changed: ({ done }: Batch) => done.length > 0,
      cronsOf: ({ done, failed }: Batch) => [...new Set([...done, ...triedOf(failed)].map(cronOfRun))],
    };
    const batch = await this.service.execute(about, (by) => this.#each(order, by));
    this.directory.forget();
    return { order: action, ...batch };
  }

  /** One after the other: what is refused keeps no other from being done, but a store that is away ends it. */
  async #each(order: BatchOrder, by: string): Promise<Batch> {
    const batch: Batch = { done: [], failed: [] };
    let away: Reason | null = null;
    for (const runId of new Set(order.runIds)) {
      const why: Reason | null = away ?? (await this.#one(runId, order, by).then(() => null, whyNot));
      if (why?.code === AWAY) away = NOT_TRIED;
      if (why === null) batch.done.push(runId);
      else batch.failed.push({ runId, ...why });
    }
    return batch;
  }

  async #one(runId: string, { order, reason, answer, asked }: BatchOrder, by: string): Promise<void> {
    if (order === 'cancel') return this.#cancel(runId, { by, reason });
    if (order === 'retry') return void (await this.runs.retry(runId, { by, reason }));
    const { runId: _, ...effect } = asked.find((one) => one.runId === runId) ?? {};
    await this.runs.resolve(runId, { by, reason, answer, ...effect } as ResolveOrder);
  }

  async #cancel(runId: string, order: { readonly by: string; readonly reason: string }): Promise<void> {
    const reply = await this.crons.cancel(runId, order);
    if (reply.verdict === 'missing') throw runIsUnknown(runId);
    if (reply.verdict === 'terminal') throw runIsOver(runId, reply);
  }
}

function triedOf(failed: Batch['failed']): string[] {
  return failed.flatMap(({ runId, detail }) => (detail === NOT_TRIED.detail ? [] : [runId]));
}

/** An answer counts for the question that the person saw, of many runs as of one. */
function checked(order: BatchOrder): BatchOrder {
  if (order.order !== 'resolve') return order;
  if (order.answer === undefined) throw OperatorInputError.of('answer', '"done", "not-done" or "give-up"', undefined);
  const unasked = order.runIds.find((id) => order.asked.every(({ runId }) => runId !== id));
  if (unasked === undefined) return order;
  throw OperatorInputError.of('asked', `the unresolved effect of "${unasked}", as it was shown`, undefined);
}

/** @throws what is neither a refusal nor a failure of a store: a bug */
function whyNot(error: unknown): Reason {
  if (isStoreError(error))
    return { code: AWAY, detail: 'The store did not answer in time. Check the run before you repeat it.' };
  if (error instanceof FencepostError) return { code: error.code, detail: error.message };
  throw error;
}
