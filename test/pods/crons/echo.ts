import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { RedisFencedRows } from '@fencepost/lease/sinks';

/** Writes what it was given. Declared without firing: runs come from crons that name it, and from people. */
@Injectable()
export class Echo {
  constructor(@Inject(RedisFencedRows) private readonly sink: RedisFencedRows) {}

  @SingletonCron('0 0 1 1 *', { name: 'echo', disabled: true, overlap: 'allow', payload: { said: 'nothing' } })
  async run(run: RunContext): Promise<void> {
    const value = JSON.stringify({ cron: run.cron, reason: run.reason, payload: run.payload });
    await run.effect('echo', ({ fence, idempotencyKey }) =>
      this.sink.write({ row: run.id, value, fence, idempotencyKey }),
    );
  }
}
