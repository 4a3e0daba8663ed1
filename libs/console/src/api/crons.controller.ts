import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ExplainService, RunOperator, Timelines } from '@fencepost/operations';
import { CronDirectory, READS, mapInSlices, type Reads } from '@fencepost/operations/internal';
import {
  presentJournalEntry,
  presentRun,
  presentTimeline,
  presentWhyReport,
  SCHEMAS,
} from '@fencepost/operations/presenting';
import type { Run } from '@fencepost/ledger/run';
import { Refusal } from '../auth/refusals.js';
import { cronPageSchema, cronRunsSchema, journalSchema } from './answers.js';
import { Shows, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import { pageOf } from './paging.js';

const MAX_RUNS = 1_000;

type OfCron = Checked<typeof inputs.cronParams>;

/** Looks at crons. */
@Tagged('crons')
@Controller('api/crons')
export class CronsController {
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(READS) private readonly reads!: Reads;
  @Inject(RunOperator) private readonly runOperator!: RunOperator;
  @Inject(Timelines) private readonly timelines!: Timelines;
  @Inject(ExplainService) private readonly explainService!: ExplainService;

  @Get()
  @Shows(cronPageSchema, 'Crons, the worst first unless asked otherwise, a page at a time.')
  list(@Query({ schema: inputs.cronsQuery }) query: Checked<typeof inputs.cronsQuery>): Promise<object> {
    return this.directory.page(query);
  }

  @Get(':cron')
  @Shows(SCHEMAS.CronDetail, 'One cron in full detail.')
  detail(@Param({ schema: inputs.cronParams }) { cron }: OfCron) {
    return this.directory.detail(cron);
  }

  @Get(':cron/timeline')
  @Shows(SCHEMAS.Timeline, 'Its instants in a range, with their outcomes; listed, or counted with "bucket".')
  async timeline(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.spanQuery }) { from, to, limit, bucket }: Checked<typeof inputs.spanQuery>,
  ) {
    const span = { limit, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    const counted = bucket !== undefined && { bucketMs: inputs.BUCKET_MS[bucket] };
    return presentTimeline(await this.timelines.of(cron, { ...span, ...counted }));
  }

  @Get(':cron/runs')
  @Shows(cronRunsSchema, 'Its runs, newest first, including recorded skips.')
  async runs(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.cronRunsQuery }) query: Checked<typeof inputs.cronRunsQuery>,
  ) {
    const { limit, state, cursor } = query;
    // The ledger knows a cron's newest runs, and not those before one of them.
    const most = cursor === undefined ? limit + 1 : MAX_RUNS;
    const runs = await this.runOperator.latest(cron, { limit: most, ...(state && { state }) });
    const { items, next } = pageOf(cursor === undefined ? runs : after(cursor, runs), limit, ({ id }) => id);
    return { items: await mapInSlices(items, presentRun), next };
  }

  @Get(':cron/journal')
  @Shows(journalSchema, 'Notable journal entries about it.')
  async entries(
    @Param({ schema: inputs.cronParams }) { cron }: OfCron,
    @Query({ schema: inputs.latestQuery }) { limit, cursor }: Checked<typeof inputs.latestQuery>,
  ) {
    await this.directory.known(cron);
    const query = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) };
    const { items, next } = pageOf(await this.reads.journal.ofCron(cron, query), limit, ({ id }) => id);
    return { items: items.map(presentJournalEntry), next };
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

function after(id: string, runs: readonly Run[]): readonly Run[] {
  const at = runs.findIndex((run) => run.id === id);
  if (at >= 0) return runs.slice(at + 1);
  throw new Refusal(400, 'BAD_REQUEST', 'cursor: This page has expired. Start again with the first page.');
}
