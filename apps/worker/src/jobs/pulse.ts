import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_REDIS } from '@fencepost/lease/nest';

/** How many samples are kept: the rows form a ring. */
export const SAMPLES = 30;

export interface Sample {
  readonly at: string;
  readonly usedBytes: number;
  readonly clients: number;
  readonly commandsPerSecond: number;
}

/** Every two seconds: one sample of how Redis is doing. */
@Injectable()
export class Pulse {
  constructor(
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
    @Inject(RedisFencedRows) private readonly sink: RedisFencedRows,
  ) {}

  @SingletonCron('*/2 * * * * *', { name: 'pulse', retry: { delay: '200ms' } })
  async run(run: RunContext): Promise<void> {
    const sample = await this.#sample(run.scheduledAt);
    const row = `sample/${(run.scheduledAt.getTime() / 2_000) % SAMPLES}`;
    await run.effect('sample', ({ fence, idempotencyKey }) =>
      this.sink.write({ row, value: JSON.stringify(sample), fence, idempotencyKey }),
    );
    run.log.info(`${sample.usedBytes} bytes, ${sample.clients} clients, ${sample.commandsPerSecond} commands/s`);
  }

  async #sample(at: Date): Promise<Sample> {
    const info = await this.redis.info();
    const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
    return {
      at: at.toISOString(),
      usedBytes: figure('used_memory'),
      clients: figure('connected_clients'),
      commandsPerSecond: figure('instantaneous_ops_per_sec'),
    };
  }
}
