import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { RedisFencedRows } from '@fencepost/lease/sinks';

/** Every second, unless the build says otherwise: one effect, one row an instant. */
@Injectable()
export class Tick {
  constructor(@Inject(RedisFencedRows) private readonly sink: RedisFencedRows) {}

  // A slow machine must not leave an instant out because of the one before it.
  @SingletonCron(process.env['TICK_EXPRESSION'] || '* * * * * *', { name: 'tick', overlap: 'allow' })
  async run(run: RunContext): Promise<void> {
    await run.effect('write', ({ fence, idempotencyKey }) =>
      this.sink.write({ row: run.id, value: run.reason, fence, idempotencyKey }),
    );
  }
}
