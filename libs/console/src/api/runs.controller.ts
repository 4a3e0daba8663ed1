import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { RunOperator } from '@fencepost/operations';
import { READS, RunSearch, journalOfRun, mapInSlices, neighboursOf, type Reads } from '@fencepost/operations/internal';
import { presentJournalEntry, presentRun, presentRunReport } from '@fencepost/operations/presenting';
import type { BullmqRunQueue } from '@fencepost/jobs/internal';
import { Shows, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import * as runInputs from './run-inputs.js';
import { READ_QUEUE } from './reading.module.js';
import { failuresSchema, foundRunsSchema, runPageSchema } from './run-answers.js';
import { attemptsOf } from './run-attempts.js';

const iso = (at: number) => new Date(at).toISOString();

/** Looks at runs. */
@Tagged('runs')
@Controller('api/runs')
export class RunsController {
  @Inject(RunOperator) private readonly operator!: RunOperator;
  @Inject(READS) private readonly reads!: Reads;
  @Inject(READ_QUEUE) private readonly queue!: BullmqRunQueue;

  @Get()
  @Shows(foundRunsSchema, 'Runs of all crons that fit, among the newest of each.')
  async list(@Query({ schema: runInputs.runsQuery }) { state, ...query }: Checked<typeof runInputs.runsQuery>) {
    const { runs, next, complete } = await new RunSearch(this.reads).page({
      ...query,
      ...(state && { states: state }),
    });
    return { items: await mapInSlices(runs, presentRun), next, complete };
  }

  @Get('failures')
  @Shows(failuresSchema, 'Failed runs, grouped by their error.')
  async failures(@Query({ schema: runInputs.failuresQuery }) query: Checked<typeof runInputs.failuresQuery>) {
    const { groups, complete } = await new RunSearch(this.reads).failures(query);
    return {
      items: groups.map((group) => ({ ...group, firstAt: iso(group.firstAt), lastAt: iso(group.lastAt) })),
      complete,
    };
  }

  @Get(':id')
  @Shows(runPageSchema, 'One run: attempts, effects, unresolved effect, journal entries and log lines.')
  async one(
    @Param({ schema: inputs.runParams }) { id }: Checked<typeof inputs.runParams>,
    @Query({ schema: inputs.runQuery }) { forEach }: Checked<typeof inputs.runQuery>,
  ): Promise<object> {
    const report = await this.operator.inspect(id, forEach);
    const [entries, logs, neighbours] = await Promise.all([
      journalOfRun(this.reads.journal, report.run),
      this.queue.logs(report.run),
      neighboursOf(this.reads.ledger, report.run),
    ]);
    const shown = presentRunReport(report);
    const journal = entries.map(presentJournalEntry);
    return { ...shown, journal, logs, attempts: attemptsOf(shown.run, journal, logs), neighbours };
  }
}
