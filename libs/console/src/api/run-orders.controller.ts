import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import { LEDGER } from '@fencepost/jobs';
import { CronOperator, RunOperator } from '@fencepost/operations';
import { CronDirectory, ORDER_RECORDS } from '@fencepost/operations/internal';
import type { RunHistory } from '@fencepost/ledger';
import { cancelledSchema, resolvedSchema, startedSchema } from './answers.js';
import { Conflicts, Orders, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import * as runInputs from './run-inputs.js';
import { CommandService } from './command-service.js';
import { runIsOver, runIsUnknown } from './problems.js';
import { runBefore } from './run-before.js';

type OfRun = Checked<typeof inputs.runParams>;

/** Orders to runs. Each leaves an audit record. */
@Tagged('runs')
@Controller('api/runs/:id')
export class RunOrdersController {
  @Inject(CronOperator) private readonly crons!: CronOperator;
  @Inject(RunOperator) private readonly operator!: RunOperator;
  @Inject(LEDGER) private readonly ledger!: Pick<RunHistory, 'readRun'>;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;

  @Post('cancel')
  @Conflicts('STATE_CONFLICT')
  @Orders(
    'operator',
    cancelledSchema,
    'Cancels a waiting run at once; a running one is signalled and has its grace period to stop.',
  )
  async cancel(
    @Param({ schema: inputs.runParams }) { id }: OfRun,
    @Body({ schema: runInputs.cancelOrder }) { reason, graceMs }: Checked<typeof runInputs.cancelOrder>,
  ) {
    const order = { ...ORDER_RECORDS.cancel, reason, ...(await runBefore(this.ledger, id)) };
    const reply = await this.service.execute(order, async (by) => {
      const given = await this.crons.cancel(id, { by, reason, ...(graceMs !== undefined && { graceMs }) });
      // Before the record is made: what was refused has changed nothing.
      if (given.verdict === 'missing') throw runIsUnknown(id);
      if (given.verdict === 'terminal') throw runIsOver(id, given);
      return given;
    });
    this.directory.forget();
    const until = reply.verdict === 'cancelling' ? new Date(reply.until).toISOString() : null;
    return { runId: id, state: reply.verdict, until };
  }

  @Post('retry')
  @Conflicts('RUN_STATE')
  @Orders(
    'operator',
    startedSchema,
    'Runs a failed or cancelled run again, as a new run; effects that are done are not repeated.',
  )
  async retry(
    @Param({ schema: inputs.runParams }) { id }: OfRun,
    @Body({ schema: runInputs.retryOrder }) { payload, ...order }: Checked<typeof runInputs.retryOrder>,
  ) {
    const given = { ...order, ...(payload !== undefined && { payload }) };
    const about = { action: 'retry', reason: order.reason, ...(await runBefore(this.ledger, id)) };
    const reply = await this.service.execute(about, (by) => this.operator.retry(id, { by, ...given }));
    this.directory.forget();
    return reply;
  }

  @Post('resolve')
  @Conflicts('RUN_STATE')
  @Orders(
    'operator',
    resolvedSchema,
    'Resolves the named effect of an uncertain run; 409 if the run now waits for another one.',
  )
  async resolve(
    @Param({ schema: inputs.runParams }) { id }: OfRun,
    @Body({ schema: runInputs.resolveOrder }) { result, ...order }: Checked<typeof runInputs.resolveOrder>,
  ): Promise<object> {
    const given = { ...order, ...(result !== undefined && { result }) };
    const about = {
      ...ORDER_RECORDS.resolve(order.answer),
      reason: order.reason,
      ...(await runBefore(this.ledger, id)),
    };
    const reply = await this.service.execute(about, (by) => this.operator.resolve(id, { by, ...given }));
    this.directory.forget();
    return reply;
  }
}
