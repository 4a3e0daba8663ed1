import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { LeaseService } from '@fencepost/operations';
import { CronDirectory } from '@fencepost/operations/internal';
import { presentHeldLease, presentLease, presentWatch, SCHEMAS } from '@fencepost/operations/presenting';
import { parseFence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import { callerHere } from '../auth/caller.js';
import { clearedSchema, leasePageSchema } from './answers.js';
import { Conflicts, Orders, Shows, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';
import { pageOf } from './paging.js';

/** Who holds what, and taking it from a holder that is dead. */
@Tagged('leases')
@Controller('api/leases')
export class LeasesController {
  @Inject(LeaseService) private readonly service!: LeaseService;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;

  @Get()
  @Shows(leasePageSchema, 'Leases by cron, a page at a time.')
  async list(@Query({ schema: inputs.leasesQuery }) query: Checked<typeof inputs.leasesQuery>) {
    const { search = '', limit, cursor = '', ...filter } = query;
    const part = search.trim().toLowerCase();
    const { held, free } = await this.service.list(filter);
    const fitting = held.filter((lease) =>
      [lease.cron, ownerPrefix(lease.holder)].some((text) => text.toLowerCase().includes(part)),
    );
    const rest = fitting.toSorted((a, b) => (a.cron < b.cron ? -1 : 1)).filter((lease) => lease.cron > cursor);
    const { items, next } = pageOf(rest, limit, (lease) => lease.cron);
    return { total: fitting.length, items: items.map(presentHeldLease), next, free: [...free] };
  }

  @Post(':cron/clear')
  @Conflicts('LEASE_MOVED')
  @Orders('admin', clearedSchema, 'Clears the lease; another pod acquires it at once.')
  async clear(
    @Param({ schema: inputs.cronParams }) { cron }: Checked<typeof inputs.cronParams>,
    @Body({ schema: inputs.clearOrder }) { reason, fence }: Checked<typeof inputs.clearOrder>,
  ) {
    const { name: by, role, address } = callerHere();
    const order = { fence: parseFence(fence), by, role, from: `api ${address}`, reason };
    // It writes its own record: it alone knows whom it was taken from.
    const { cleared, next, marker } = await this.service.clear(cron, order);
    this.directory.forget();
    const [at, ledgerAt] = [marker.at, marker.ledgerAt].map((instant) => new Date(instant).toISOString());
    return {
      ...{ cron, cleared: presentLease(cleared), next: next && presentLease({ cron, ...next }) },
      marker: { at, refusals: marker.refusals, ledgerAt },
    };
  }

  @Get(':cron/watch')
  @Shows(SCHEMAS.Watch, 'Duplicates since a lease was cleared; ask again every second or two.')
  async watch(
    @Param({ schema: inputs.cronParams }) { cron }: Checked<typeof inputs.cronParams>,
    @Query({ schema: inputs.cronWatchQuery }) marker: Checked<typeof inputs.cronWatchQuery>,
  ) {
    return presentWatch(await this.service.watchDuplicates(cron, 0, { marker }));
  }
}
