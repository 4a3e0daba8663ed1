import { Body, Controller, Inject, Post } from '@nestjs/common';
import { CronOperator } from '@fencepost/operations';
import { CronDirectory, ORDER_RECORDS } from '@fencepost/operations/internal';
import { bulkSchema } from './answers.js';
import { CommandService } from './command-service.js';
import { Conflicts, Orders, Tagged } from './describe-route.js';
import * as inputs from './inputs.js';
import type { Checked } from './inputs.js';

/** Orders to many crons at once. Each leaves one audit record. */
@Tagged('crons')
@Controller('api/crons')
export class BulkOrdersController {
  @Inject(CronOperator) private readonly operator!: CronOperator;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;

  @Post('orders')
  @Conflicts('SELECTION_MOVED')
  @Orders('operator', bulkSchema, 'Pauses, resumes or triggers up to 1,000 crons, or previews which.')
  async give(@Body({ schema: inputs.bulkOrder }) body: Checked<typeof inputs.bulkOrder>): Promise<object> {
    const { tag, crons, expected, until = null, ...rest } = body;
    const given = {
      ...(tag !== undefined && { tag }),
      ...(crons && { crons }),
      ...(expected !== undefined && { expected }),
    };
    const order = { ...rest, ...given, until };
    // What only looks leaves no record.
    if (order.dryRun) return this.operator.orderMany({ ...order, by: 'preview' });
    const about = { ...ORDER_RECORDS.many(order), reason: order.reason };
    const report = await this.service.execute(about, (by) => this.operator.orderMany({ ...order, by }));
    this.directory.forget();
    return report;
  }
}
