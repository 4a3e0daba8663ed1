import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type TransactionalRunContext } from '@fencepost/jobs';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import { ChaosSink } from '../chaos-sink.js';

const MOMENT_MS = 60;
const STATEMENT_MS = 5_000;

/** A row of the ledger's own database, in a transaction: nothing in the table keeps it from being there twice. */
@Injectable()
export class ChaosBooked {
  readonly #table: string;

  constructor(
    @Inject(ChaosSink) private readonly sink: ChaosSink,
    @Inject(JOBS_SETTINGS) { postgres }: JobsSettings,
  ) {
    this.#table = `"${postgres?.schema ?? ''}".chaos_booked`;
  }

  @SingletonCron('* * * * * *', {
    name: 'chaos-booked',
    transactions: true,
    retry: { attempts: 100, delay: '100ms', maxDelay: '1s' },
    ...{ misfire: 'fire-all', overlap: 'allow', grace: '1s', catchUpWindow: '5m', maxCatchUp: 1_000 },
  })
  async run(run: TransactionalRunContext): Promise<void> {
    await this.sink.control(run);
    await run.transaction(async (tx) => {
      // A statement on a connection whose server is gone would never end.
      const insert = { text: `insert into ${this.#table} values ($1, $2)`, query_timeout: STATEMENT_MS };
      await tx.query({ ...insert, values: [run.id, run.attempt] });
      await wait(MOMENT_MS);
    });
  }
}
