import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ExplainService, RunOperator, Timelines } from '@fencepost/operations';
import { CronDirectory, READS, mapInSlices, type Reads } from '@fencepost/operations/internal';
import {
  presentJournalEntry,
  presentRun,
  presentTimeline,
  presentWhyReport,
  SCHEMAS,
} from '@fencepost/operations/presenting';
import { cronPageSchema, journalSchema, runListSchema } from './answers.js';
import { Shows } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';

type OfCron = Checked<typeof inputs.cronParams>;

/** Looks at crons. */
@ApiTags('crons')
@Controller('api/crons')
export class CronsController {
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(READS) private readonly reads!: Reads;
  @Inject(RunOperator) private readonly runOperator!: RunOperator;
  @Inject(Timelines) private readonly timelines!: Timelines;
  @Inject(ExplainService) private readonly explainService!: ExplainService;

  @Get()
  @Shows(cronPageSchema, 'Crons by name, a page at a time.')
  list(@Query({ schema: inputs.cronsQuery }) query: Checked<typeof inputs.cronsQuery>): Promise<object> {
    return this.directory.page(query);
  }

  @Get(':cron')
  @Shows(SCHEMAS.CronDetail, 'One cron in full detail.')
  detail(@Param({ schema: inputs.cronParams }) { cron }: OfCron) {
    return this.directory.detail(cron);
  }

  @Get(':cron/timeline')
  @Shows(SCHEMAS.Timeline, 'Its instants in a range, with their outcomes.')
  async timeline(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.spanQuery }) { from, to, limit }: Checked<typeof inputs.spanQuery>,
  ) {
    const span = { limit, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    return presentTimeline(await this.timelines.of(cron, span));
  }

  @Get(':cron/runs')
  @Shows(runListSchema, 'Its runs, newest first, including recorded skips.')
  async runs(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.cronRunsQuery }) { limit, state }: Checked<typeof inputs.cronRunsQuery>,
  ) {
    const runs = await this.runOperator.latest(cron, { limit, ...(state && { state }) });
    return { items: await mapInSlices(runs, presentRun) };
  }

  @Get(':cron/journal')
  @Shows(journalSchema, 'Notable journal entries about it.')
  async entries(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.latestQuery }) { limit, before }: Checked<typeof inputs.latestQuery>,
  ) {
    await this.directory.known(cron);
    const entries = await this.reads.journal.ofCron(cron, { limit, ...(before !== undefined && { before }) });
    return { items: entries.map(presentJournalEntry) };
  }

  @Get(':cron/why')
  @Shows(SCHEMAS.WhyReport, 'Why it ran or did not run at an instant.')
  async why(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.whyQuery }) { at }: Checked<typeof inputs.whyQuery>,
  ) {
    return presentWhyReport(await this.explainService.why(cron, at));
  }
}
