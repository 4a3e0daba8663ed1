import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobHandler, Jobs, JobsModule, LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import type { RunContext, TransactionalRunContext } from '@fencepost/jobs';
import { Redis } from 'ioredis';
import { Pool } from 'pg';

/**
 * Charges an account 42 for one order, and tells its balance. Kill it whenever you like, with `kill -9`, and start it again,
 * as often as you like: the account had 1,000, and has 958 in the end.
 *
 * With DATABASE_URL runs, effects and the account are in PostgreSQL, and the charge is committed together with the record that it
 * is done. Without, they are in Redis, and the bank honours idempotency keys.
 */
const { REDIS_URL: redis = 'redis://localhost:6379', DATABASE_URL = '', PREFIX: prefix = 'charge-once' } = process.env;
const stepMs = Number(process.env['STEP_MS'] ?? 1_000);
const schema = prefix.replaceAll(/\W/g, '_');
const account = 'alice';

interface Order {
  readonly amount: number;
}

interface Bank {
  open(): Promise<void>;
  balance(): Promise<number>;
  close(): Promise<unknown>;
}

const terms = { retry: { attempts: 100, delay: '100ms' } };

/** Another company's, as far as the job is concerned: it can be asked twice, and knows what it has been asked by the key. */
class KeyHonouringBank implements Bank {
  readonly #redis = new Redis(redis);

  async open(): Promise<void> {}

  @JobHandler('charge', terms)
  async charge(run: RunContext): Promise<void> {
    const { amount } = run.payload as Order;
    await say(`Attempt ${run.attempt} begins.`);
    await run.effect('charge', ({ idempotencyKey }) =>
      this.#redis.hsetnx(`${prefix}:charges:${account}`, idempotencyKey, amount),
    );
    await say('Charged.');
  }

  async balance(): Promise<number> {
    const charges = await this.#redis.hvals(`${prefix}:charges:${account}`);
    return charges.reduce((balance, amount) => balance - Number(amount), 1_000);
  }

  close(): Promise<unknown> {
    return this.#redis.quit();
  }
}

const pool = DATABASE_URL === '' ? null : new Pool({ connectionString: DATABASE_URL });

/** A table beside the ledger's: it knows no keys, and needs none. */
class BankOfOurOwn implements Bank {
  readonly #table = `${schema}.accounts`;

  constructor(private readonly database: Pool) {}

  async open(): Promise<void> {
    await this.database.query(
      `create table if not exists ${this.#table} (owner text primary key, balance int not null)`,
    );
    await this.database.query(`insert into ${this.#table} values ($1, 1000) on conflict do nothing`, [account]);
  }

  @JobHandler('charge', { ...terms, transactions: true })
  async charge(run: TransactionalRunContext): Promise<void> {
    const { amount } = run.payload as Order;
    const text = `update ${this.#table} set balance = balance - $1 where owner = $2`;
    await say(`Attempt ${run.attempt} begins.`);
    await run.transaction(async (tx) => void (await tx.query({ text, values: [amount, account] })));
    await say('Charged.');
  }

  async balance(): Promise<number> {
    const text = `select balance from ${this.#table} where owner = $1`;
    const { rows } = await this.database.query<{ balance: number }>(text, [account]);
    return rows[0]?.balance ?? 1_000;
  }

  close(): Promise<unknown> {
    return this.database.end();
  }
}

const BANK = Symbol('BANK');

@Module({
  imports: [
    JobsModule.forRoot({
      ...{ roles: ['scheduler', 'worker'], redis, prefix, leaseTtl: '2s', runLease: '2s', sweepEvery: '1s' },
      // One of the two banks is never provided.
      undiscovered: 'warn',
      ...(pool ? { ledger: 'postgres', postgres: { pool, schema, migrate: true } } : {}),
    }),
  ],
  providers: [{ provide: BANK, useValue: pool ? new BankOfOurOwn(pool) : new KeyHonouringBank() }],
})
class AppModule {}

/** Slowly, so that there is a moment to kill it in. */
async function say(what: string): Promise<void> {
  console.log(what);
  await pause(stepMs);
}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const bank = app.get<Bank>(BANK);
await bank.open();
await say(`Here is process ${process.pid}.`);
const { runId, created } = await app
  .get(Jobs, { strict: false })
  .enqueue('charge', { amount: 42 } satisfies Order, { idempotencyKey: 'order-42' });
await say(created ? 'Order 42 is to be charged.' : 'Order 42 is known already.');
const ledger = app.get<Ledger>(LEDGER, { strict: false });
while ((await ledger.readRun(runId))?.finishedAt === null) await pause(100);
console.log(`The balance is ${await bank.balance()}.`);
await app.close();
await bank.close();
