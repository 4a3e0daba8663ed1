import { Body, Controller, Delete, Inject, Param, Post, Query } from '@nestjs/common';
import { LEDGER } from '@fencepost/jobs';
import { CronCatalog, CronOperator, type BackfillReport } from '@fencepost/operations';
import { CronDirectory, ORDER_RECORDS } from '@fencepost/operations/internal';
import { SCHEMAS, presentPause } from '@fencepost/operations/presenting';
import type { OccurrenceLog } from '@fencepost/ledger';
import type { Pause } from '@fencepost/ledger/run';
import { backfillSchema, removedSchema, resumedSchema, startedSchema } from './answers.js';
import { Conflicts, Orders, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import { CommandService } from './command-service.js';
import { refusedRun } from './problems.js';

type OfCron = Checked<typeof inputs.cronParams>;

/** Orders to crons. Each leaves an audit record. */
@Tagged('crons')
@Controller('api/crons/:cron')
export class CronOrdersController {
  @Inject(CronOperator) private readonly operator!: CronOperator;
  @Inject(CronCatalog) private readonly crons!: CronCatalog;
  @Inject(LEDGER) private readonly ledger!: Pick<OccurrenceLog, 'readCron'>;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;

  @Post('pause')
  @Orders('operator', SCHEMAS.Pause, 'Its instants are recorded as skipped until it is resumed.')
  async pause(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Body({ schema: inputs.pauseOrder }) { reason, until = null }: Checked<typeof inputs.pauseOrder>,
  ) {
    const order = { ...ORDER_RECORDS.pause, cron, reason, before: await this.#pauseOf(cron) };
    const pause = await this.service.execute(order, (by) => this.operator.pause(cron, { by, reason, until }));
    this.directory.forget();
    return presentPause(pause);
  }

  @Post('resume')
  @Orders('operator', resumedSchema, 'Ends a pause.')
  async resume(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Body({ schema: inputs.resumeOrder }) { reason, missed }: Checked<typeof inputs.resumeOrder>,
  ) {
    const order = { ...ORDER_RECORDS.resume, cron, reason, before: await this.#pauseOf(cron) };
    const { ended, runId } = await this.service.execute(order, (by) =>
      this.operator.resume(cron, { by, reason, missed }),
    );
    this.directory.forget();
    return { ended: ended && presentPause(ended), runId };
  }

  @Post('trigger')
  @Conflicts('STATE_CONFLICT')
  @Orders('operator', startedSchema, 'Runs it once, now, in addition to its schedule.')
  async trigger(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Body({ schema: inputs.triggerOrder }) { reason, payload, force }: Checked<typeof inputs.triggerOrder>,
  ) {
    const order = { ...ORDER_RECORDS.trigger, cron, reason };
    const given = { reason, force, ...(payload !== undefined && { payload }) };
    const reply = await this.service.execute(order, (by) => this.operator.trigger(cron, { by, ...given }));
    if (reply.verdict !== 'claimed') throw refusedRun(cron, reply);
    return { runId: reply.runId };
  }

  @Post('backfill')
  @Orders('operator', backfillSchema, 'Runs past instants that did not run, or previews them.')
  async backfill(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Body({ schema: inputs.backfillOrder }) order: Checked<typeof inputs.backfillOrder>,
  ): Promise<object> {
    // What only looks leaves no record.
    if (order.dryRun) return presentBackfill(await this.operator.backfill(cron, { by: 'preview', ...order }));
    const about = { ...ORDER_RECORDS.backfill(order), cron, reason: order.reason };
    const done = await this.service.execute(about, (by) => this.operator.backfill(cron, { by, ...order }));
    return presentBackfill(done);
  }

  @Delete()
  @Conflicts('CATALOG_MOVED', 'DECLARED_CRON')
  @Orders('admin', removedSchema, 'Removes it, unless a live pod declares it; its history is kept.')
  async remove(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.removeOrder }) { reason, expected }: Checked<typeof inputs.removeOrder>,
  ) {
    const { entry } = await this.directory.known(cron);
    const { state, generation } = entry;
    const order = { ...ORDER_RECORDS.remove, cron, reason, before: { state, generation } };
    const given = { reason, ...(expected !== undefined && { expected }) };
    const { declaredBy } = await this.service.execute(order, (by) => this.crons.remove(cron, { by, ...given }));
    this.directory.forget();
    return { cron, done: true, declaredBy };
  }

  async #pauseOf(cron: string): Promise<object | null> {
    const paused: Pause | null = (await this.ledger.readCron(cron)).paused;
    return paused && presentPause(paused);
  }
}

function presentBackfill({ nextFrom, ...report }: BackfillReport): object {
  return { ...report, nextFrom: nextFrom === null ? null : new Date(nextFrom).toISOString() };
}
