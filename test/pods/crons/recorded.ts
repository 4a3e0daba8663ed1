import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';

const LOOK_AGAIN_MS = 20;
/** An instant that comes soon, on each day. */
const CHARGE_AT: string = process.env['CHARGE_AT'] || '0 6 * * *';
const RETRY = { delay: '100ms' };

/** The crons of the recording in the README: one that runs all the time, and those whose workers stand still or die in an effect. */
@Injectable()
export class Recorded {
  constructor(
    @Inject(RedisFencedRows) private readonly sink: RedisFencedRows,
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
    @Inject(JOBS_SETTINGS) private readonly settings: JobsSettings,
  ) {}

  @SingletonCron('*/2 * * * * *', { name: 'stock-sync', overlap: 'allow', tags: ['shop'] })
  async sync(run: RunContext): Promise<void> {
    await run.effect('sync', this.#act(run, 'sync'));
  }

  @SingletonCron('30 2 * * *', { name: 'nightly-export', timeZone: 'Europe/Berlin', tags: ['reports'] })
  async export(run: RunContext): Promise<void> {
    await run.effect('export', this.#act(run, 'export'));
  }

  @SingletonCron(CHARGE_AT, { name: 'charge-cards', retry: RETRY, tags: ['billing'] })
  async charge(run: RunContext): Promise<void> {
    // Not an effect but a note of who is at it: from here on the row knows this attempt's fence.
    const noted = { value: 'begun', idempotencyKey: `${run.id}/attempt-${run.attempt}` };
    await this.sink.write({ row: run.id, fence: run.fence, ...noted });
    await run.effect('charge', this.#act(run, 'charge'));
    await run.effect('receipt', this.#act(run, 'receipt'));
  }

  @SingletonCron('0 9 * * 1', { name: 'newsletter', timeZone: 'Europe/Berlin', retry: RETRY, tags: ['mail'] })
  async mail(run: RunContext): Promise<void> {
    await run.effect('render', this.#act(run, 'render'));
    await run.effect('send-mail', this.#act(run, 'send-mail'), { ifUnknown: 'ask' });
  }

  /**
   * Waits at a gate of its attempt, past every check of the worker's own. It doesn't listen to the run's signal: the sink alone can
   * refuse it.
   */
  #act(run: RunContext, value: string): Parameters<RunContext['effect']>[1] {
    return async ({ fence, idempotencyKey }) => {
      const gates = `${this.settings.prefix}:closed-gates`;
      // A look that was under way when the process was frozen may time out.
      const isClosed = () => this.redis.sismember(gates, `${value}-${run.attempt}`).catch(() => 1);
      while ((await isClosed()) === 1) await wait(LOOK_AGAIN_MS);
      await this.sink.write({ row: run.id, value, fence, idempotencyKey });
    };
  }
}
