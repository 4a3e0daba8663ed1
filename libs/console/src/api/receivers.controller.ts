import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { Receivers } from '@fencepost/operations/internal';
import { SCHEMAS } from '@fencepost/operations/presenting';
import { z } from 'zod';
import { CommandService } from './command-service.js';
import { Orders, Shows, Tagged } from './describe-route.js';
import { receiverParams, receiversQuery, reason, type Checked } from './inputs.js';

const receiverListSchema = z
  .strictObject({ items: z.array(SCHEMAS.Receiver) })
  .describe('Webhooks, and the pings of crons, with their latest deliveries.');
const testOrder = z.strictObject({ reason });

/** Who hears of what, and whether it arrives. Secrets and whole addresses are never shown. */
@Tagged('notifications')
@Controller('api/receivers')
export class ReceiversController {
  @Inject(Receivers) private readonly receivers!: Receivers;
  @Inject(CommandService) private readonly service!: CommandService;

  @Get()
  @Shows(receiverListSchema, 'Receivers of alarms and of the ends of runs.')
  async list(@Query({ schema: receiversQuery }) { cron }: Checked<typeof receiversQuery>): Promise<object> {
    return { items: await this.receivers.list(cron) };
  }

  @Post(':id/test')
  @Orders('operator', SCHEMAS.Delivery, 'Sends a signed test message to a webhook, once.')
  test(
    @Param({ schema: receiverParams }) { id }: Checked<typeof receiverParams>,
    @Body({ schema: testOrder }) { reason: why }: Checked<typeof testOrder>,
  ): Promise<object> {
    const order = { action: 'test-receiver', reason: why, before: null, after: (sent: object) => ({ id, ...sent }) };
    return this.service.execute(order, () => this.receivers.test(id));
  }
}
