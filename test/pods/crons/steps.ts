import { channel } from 'node:diagnostics_channel';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_REDIS } from '@fencepost/lease/nest';

const STEPS = ['first', 'second', 'third'] as const;
const LOOK_AGAIN_MS = 20;
/** For a fail point where nobody is asked any more before the sink, not even the worker itself. */
const INSIDE = channel('fencepost:steps.inside');

/** Three effects on one row, with a gate before each. Declared without firing: a test gives it its instant. */
@Injectable()
export class Steps {
  constructor(
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
    @Inject(JOBS_SETTINGS) private readonly settings: JobsSettings,
    @Inject(RedisFencedRows) private readonly sink: RedisFencedRows,
  ) {}

  @SingletonCron('0 0 1 1 *', { name: 'steps', disabled: true, retry: { delay: '100ms' } })
  async run(run: RunContext): Promise<void> {
    // Not an effect but a note of who is at it: from here on the row knows this attempt's fence.
    const about = { row: 'steps', fence: run.fence };
    await this.sink.write({ ...about, value: 'begun', idempotencyKey: `${run.id}/attempt-${run.attempt}` });
    for (const step of STEPS) {
      await this.#passGate(step);
      await run.effect(step, ({ fence, idempotencyKey }) => {
        INSIDE.publish({ effect: step });
        return this.sink.write({ row: 'steps', value: step, fence, idempotencyKey });
      });
    }
  }

  /** Doesn't listen to the run's signal: what a handler that knows no better does is what has to be harmless. */
  async #passGate(step: string): Promise<void> {
    const closed = `${this.settings.prefix}:closed-gates`;
    while ((await this.redis.sismember(closed, step)) === 1) await wait(LOOK_AGAIN_MS);
  }
}
