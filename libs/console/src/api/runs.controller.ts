import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RunOperator } from '@fencepost/operations';
import { READS, mapInSlices, type Reads } from '@fencepost/operations/internal';
import { presentJournalEntry, presentRun, presentRunReport } from '@fencepost/operations/presenting';
import type { Run } from '@fencepost/ledger/run';
import type { BullmqRunQueue } from '@fencepost/jobs/internal';
import { runListSchema, runPageSchema } from './answers.js';
import { Shows } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import { READ_QUEUE } from './reading.module.js';
import { runEntries } from './run-entries.js';

/** The journal of a cron keeps so many entries. */
const MAX_PER_CRON = 200;
/** Of all crons: as many as are read at once. */
const MAX_OVERALL = 1_000;

/** Looks at runs. */
@ApiTags('runs')
@Controller('api/runs')
export class RunsController {
  @Inject(RunOperator) private readonly operator!: RunOperator;
  @Inject(READS) private readonly reads!: Reads;
  @Inject(READ_QUEUE) private readonly queue!: BullmqRunQueue;

  @Get()
  @Shows(runListSchema, 'Failed or uncertain runs of all crons.')
  async list(@Query({ schema: inputs.runsQuery }) { state, limit }: Checked<typeof inputs.runsQuery>) {
    return { items: await mapInSlices(await this.operator[state]({ limit }), presentRun) };
  }

  @Get(':id')
  @Shows(runPageSchema, 'One run: effects, unresolved effect, journal entries and log lines.')
  async one(@Param({ schema: inputs.runParams }) { id }: Checked<typeof inputs.runParams>) {
    const report = await this.operator.inspect(id);
    const [journal, logs] = await Promise.all([this.#entries(report.run), this.queue.logs(report.run)]);
    return { ...presentRunReport(report), journal, logs };
  }

  async #entries({ id, cron }: Run) {
    const [notable, latest] = await Promise.all([
      this.reads.journal.ofCron(cron, { limit: MAX_PER_CRON }),
      this.reads.journal.latest({ limit: MAX_OVERALL }),
    ]);
    return runEntries(id, { notable, latest }).map(presentJournalEntry);
  }
}
