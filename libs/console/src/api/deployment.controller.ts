import { Controller, Get, Inject, Query } from '@nestjs/common';
import { Doctor, Forecasts } from '@fencepost/operations';
import { READS, mapInSlices, readLivePods, type Reads } from '@fencepost/operations/internal';
import {
  presentAuditRecord,
  presentDueAt,
  presentJournalEntry,
  presentForecast,
  presentPodList,
  SCHEMAS,
} from '@fencepost/operations/presenting';
import { auditListSchema, findingListSchema, journalSchema, overviewSchema } from './answers.js';
import { Shows, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import { pageOf } from './paging.js';
import { OverviewService } from './overview-service.js';

/** Looks at the deployment as a whole. */
@Tagged('deployment')
@Controller('api')
export class DeploymentController {
  @Inject(OverviewService) private readonly overviews!: OverviewService;
  @Inject(Forecasts) private readonly forecasts!: Forecasts;
  @Inject(Doctor) private readonly examiner!: Doctor;
  @Inject(READS) private readonly reads!: Reads;

  @Get('overview')
  @Shows(overviewSchema, 'Summary of the deployment.')
  overview() {
    return this.overviews.look();
  }

  @Get('pods')
  @Shows(SCHEMAS.PodList, 'Pods of both roles that reported recently.')
  async pods() {
    return presentPodList(await readLivePods(this.reads));
  }

  @Get('upcoming')
  @Shows(SCHEMAS.Forecast, 'Runs due in the next hours, stampedes and clock changes.')
  async forecast(@Query({ schema: inputs.forecastQuery }) query: Checked<typeof inputs.forecastQuery>) {
    return presentForecast(await this.forecasts.ahead(query));
  }

  @Get('upcoming/at')
  @Shows(SCHEMAS.DueAt, 'Crons due in one second.')
  async dueAt(@Query({ schema: inputs.dueAtQuery }) { at, tag }: Checked<typeof inputs.dueAtQuery>) {
    return presentDueAt(await this.forecasts.dueAt(at, tag));
  }

  @Get('doctor')
  @Shows(findingListSchema, 'Problems, and what to do.')
  async doctor() {
    return { items: await this.examiner.examine() };
  }

  @Get('journal')
  @Shows(journalSchema, 'Recent events of all pods.')
  async journal(@Query({ schema: inputs.latestQuery }) { limit, cursor }: Checked<typeof inputs.latestQuery>) {
    const query = { limit: limit + 1, ...(cursor !== undefined && { before: cursor }) };
    const { items, next } = pageOf(await this.reads.journal.latest(query), limit, ({ id }) => id);
    return { items: await mapInSlices(items, presentJournalEntry), next };
  }

  @Get('audit')
  @Shows(auditListSchema, 'Who changed what, from where.')
  async audit(@Query({ schema: inputs.auditQuery }) { limit, cursor, cron }: Checked<typeof inputs.auditQuery>) {
    const about = { ...(cursor !== undefined && { before: cursor }), ...(cron !== undefined && { cron }) };
    const records = await this.reads.trail.list({ limit: limit + 1, ...about });
    const { items, next } = pageOf(records, limit, ({ id }) => id);
    return { items: await mapInSlices(items, presentAuditRecord), next };
  }
}
