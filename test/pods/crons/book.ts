import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import { Pool } from 'pg';

const MOMENT_MS = 50;

/**
 * Every second, on a ledger in PostgreSQL: a row that commits with its record, and one that is written as to somebody else,
 * who honours idempotency keys. The tables are the test's; nothing but that keeps a row from being there twice.
 */
@Injectable()
export class Book implements OnApplicationShutdown {
  readonly #elsewhere: Pool;
  readonly #schema: string;

  constructor(@Inject(JOBS_SETTINGS) { postgres }: JobsSettings) {
    this.#schema = postgres?.schema ?? '';
    // Under the name of a stranger: what ends the ledger's sessions leaves these alone.
    this.#elsewhere = new Pool({ connectionString: postgres?.url, max: 4, application_name: 'elsewhere' });
    this.#elsewhere.on('error', () => {});
  }

  // A slow machine must not leave an instant out because of the one before it.
  @SingletonCron('* * * * * *', { name: 'book', overlap: 'allow', retry: { attempts: 20, delay: '50ms' } })
  async run(run: RunContext): Promise<void> {
    await run.transaction(async (tx) => {
      await tx.query({ text: `insert into "${this.#schema}".booked values ($1, $2)`, values: [run.id, run.attempt] });
      // Time for a session or a worker to end in the middle.
      await wait(MOMENT_MS);
    });
    await run.effect('mail', async ({ idempotencyKey }) => {
      const text = `insert into "${this.#schema}".mailed values ($1, $2) on conflict do nothing`;
      await this.#elsewhere.query(text, [run.id, idempotencyKey]);
      await wait(MOMENT_MS);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#elsewhere.end();
  }
}
