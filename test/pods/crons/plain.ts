import { channel } from 'node:diagnostics_channel';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
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

/** Each leap day: never while anybody looks, so that what happens to them happens to their definitions alone. */
const IDLE = '0 0 0 29 2 *';

/** Idle crons for whoever changes, removes and pauses crons at run time and looks whether that lasts. */
@Injectable()
export class Kept {
  @SingletonCron(IDLE, { name: 'kept-changed' })
  changed(): void {}

  @SingletonCron(IDLE, { name: 'kept-paused' })
  paused(): void {}
}

/** Counts how often each run's handler was called, for crons by the thousand. They are made at run time and name it. */
@Injectable()
export class Many {
  constructor(
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
    @Inject(JOBS_SETTINGS) private readonly settings: JobsSettings,
  ) {}

  @SingletonCron('0 0 1 1 *', { name: 'many', disabled: true })
  async run(run: RunContext): Promise<void> {
    await this.redis.hincrby(`${this.settings.prefix}:calls`, run.id, 1);
  }
}

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
