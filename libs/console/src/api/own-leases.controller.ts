import { Body, Controller, Get, Inject, Post, Query } from '@nestjs/common';
import { parseFence } from '@fencepost/lease';
import { LeaseService } from '@fencepost/operations';
import { presentOwnLease, presentWatch, SCHEMAS } from '@fencepost/operations/presenting';
import { callerHere } from '../auth/caller.js';
import { ownClearedSchema, ownLeasePageSchema } from './answers.js';
import { Conflicts, Orders, Shows, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';

/** What the application itself holds: leases, places of semaphores, roles. Names may have any letter, so none is in a path. */
@Tagged('leases')
@Controller('api/own-leases')
export class OwnLeasesController {
  @Inject(LeaseService) private readonly service!: LeaseService;

  @Get()
  @Shows(ownLeasePageSchema, 'Leases of the application itself, semaphores and elections, about a page at a time.')
  async list(@Query({ schema: inputs.ownLeasesQuery }) query: Checked<typeof inputs.ownLeasesQuery>) {
    const { own } = this.service;
    const { resource, search, kind, holder, limit, cursor } = query;
    if (resource !== undefined) return { items: (await own.named(resource)).map(presentOwnLease), next: null };
    const { items, next } = await own.list({ kind, holder, resource: search }, limit, cursor);
    return { items: items.map(presentOwnLease), next };
  }

  @Post('clear')
  @Conflicts('LEASE_MOVED')
  @Orders('admin', ownClearedSchema, 'Clears one lease, or one place of a semaphore.')
  async clear(@Body({ schema: inputs.ownClearOrder }) order: Checked<typeof inputs.ownClearOrder>) {
    const { name: by, role, address } = callerHere();
    const { resource, kind, fence, reason, downstreamSafe: isDownstreamSafe } = order;
    const who = { by, role, from: `api ${address}`, reason };
    const { cleared, next } = await this.service.own.clear(resource, {
      ...{ kind, fence: parseFence(fence), isDownstreamSafe },
      ...who,
    });
    return { cleared: presentOwnLease(cleared), next: next && presentOwnLease(next) };
  }

  @Get('watch')
  @Shows(SCHEMAS.Watch, 'What became of a lease that was cleared; ask again every second or two.')
  async watch(@Query({ schema: inputs.ownWatchQuery }) query: Checked<typeof inputs.ownWatchQuery>) {
    return presentWatch(await this.service.own.watch({ ...query, fence: parseFence(query.fence) }, 0));
  }
}
