import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { EffectUnknownError, SingletonCron, type EffectContext, type RunContext } from '@fencepost/jobs';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_REDIS } from '@fencepost/lease/nest';

const LOOK_AGAIN_MS = 20;

/** What there is to look at on a page: questions, failures with texts of any kind, and runs that last. None fires by itself. */
@Injectable()
export class Shown {
  constructor(
    @Inject(RedisFencedRows) private readonly sink: RedisFencedRows,
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
    @Inject(JOBS_SETTINGS) private readonly settings: JobsSettings,
  ) {}

  /** In its first attempt nobody knows what became of the mail. */
  @SingletonCron('0 0 1 1 *', { name: 'asking', disabled: true, overlap: 'allow', retry: { delay: '100ms' } })
  async ask(run: RunContext): Promise<void> {
    run.log.info('The report has 12 pages.');
    await run.progress(30);
    await run.effect('render', (context) => this.#write(run, { name: 'render', ...context }));
    await run.effect('send-mail', (context) => this.#send(run, context), { ifUnknown: 'ask' });
    run.log.info('The mail is out.');
    await run.effect('file', (context) => this.#write(run, { name: 'file', ...context }));
    await run.progress(100);
  }

  @SingletonCron('0 0 1 1 *', { name: 'failing', disabled: true, overlap: 'allow', retry: { attempts: 1 } })
  fail({ payload }: RunContext): void {
    throw new Error(String(Reflect.get(Object(payload), 'text') ?? 'The printer is on fire.'));
  }

  /** Until its gate is opened, or it may not go on. */
  @SingletonCron('0 0 1 1 *', { name: 'lasting', disabled: true, overlap: 'allow', retry: { delay: '100ms' } })
  async last(run: RunContext): Promise<void> {
    run.log.info('It waits at its gate.');
    const gates = `${this.settings.prefix}:closed-gates`;
    while ((await this.redis.sismember(gates, run.cron)) === 1) {
      await wait(LOOK_AGAIN_MS, undefined, { signal: run.signal });
    }
    await run.effect('write', (context) => this.#write(run, { name: 'write', ...context }));
  }

  async #send(run: RunContext, context: EffectContext) {
    if (run.attempt === 1) throw new EffectUnknownError('The line was cut before the answer.');
    return this.#write(run, { name: 'send-mail', ...context });
  }

  #write(run: RunContext, { name, fence, idempotencyKey }: EffectContext & { readonly name: string }) {
    return this.sink.write({ row: run.id, value: name, fence, idempotencyKey });
  }
}
