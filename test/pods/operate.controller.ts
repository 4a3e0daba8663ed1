import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import { CronOperator } from '@fencepost/operations';

/** Lets a test have a worker pod trigger a cron, as a page or a web hook of an app would. */
@Controller('operate')
export class OperateController {
  constructor(@Inject(CronOperator) private readonly operator: CronOperator) {}

  @Post('trigger/:cron')
  trigger(@Param('cron') cron: string, @Body() order: { by: string; payload?: unknown }): Promise<unknown> {
    return this.operator.trigger(cron, order);
  }
}
