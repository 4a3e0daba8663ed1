import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RunOperator } from '@fencepost/operations';
import { READS, journalOfRun, mapInSlices, type Reads } from '@fencepost/operations/internal';
import { presentJournalEntry, presentRun, presentRunReport } from '@fencepost/operations/presenting';
import type { BullmqRunQueue } from '@fencepost/jobs/internal';
import { runListSchema, runPageSchema } from './answers.js';
import { Shows } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import { READ_QUEUE } from './reading.module.js';

/** Looks at runs. */
@ApiTags('runs')
@Controller('api/runs')
export class RunsController {
  @Inject(RunOperator) private readonly operator!: RunOperator;
  @Inject(READS) private readonly reads!: Reads;
  @Inject(READ_QUEUE) private readonly queue!: BullmqRunQueue;

  @Get()
  @Shows(runListSchema, 'Failed or uncertain runs of all crons.')
  async list(@Query({ schema: inputs.runsQuery }) { state, limit, cron }: Checked<typeof inputs.runsQuery>) {
    const runs = await this.operator[state]({ limit, ...(cron !== undefined && { cron }) });
    return { items: await mapInSlices(runs, presentRun) };
  }

  @Get(':id')
  @Shows(runPageSchema, 'One run: effects, unresolved effect, journal entries and log lines.')
  async one(
    @Param({ schema: inputs.runParams }) { id }: Checked<typeof inputs.runParams>,
    @Query({ schema: inputs.runQuery }) { forEach }: Checked<typeof inputs.runQuery>,
  ) {
    const report = await this.operator.inspect(id, forEach);
    const [journal, logs] = await Promise.all([
      journalOfRun(this.reads.journal, report.run),
      this.queue.logs(report.run),
    ]);
    return { ...presentRunReport(report), journal: journal.map(presentJournalEntry), logs };
  }
}
