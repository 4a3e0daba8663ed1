import { Redis } from 'ioredis';
import type { Pool } from 'pg';
import { RedisFencedRows } from '@fencepost/lease/sinks';

/** A write that a sink has accepted. */
export interface Act {
  readonly run: string;
  readonly key: string;
  /** `null` where the sink knows nothing of fences. */
  readonly fence: number | null;
  /** Of the table; writes under fences are ordered within it. */
  readonly row: string;
}

/** An act of a sink that refuses nothing, or the word of the person who was asked, in the order in which they came. */
export interface AskedEntry {
  readonly run: string;
  readonly what: 'act' | 'done' | 'not-done';
}

/** All that the systems outside have seen. */
export interface SinkSnapshot {
  readonly fenced: readonly Act[];
  readonly keyed: readonly Act[];
  readonly asked: readonly AskedEntry[];
  /** A run for each of its attempts. */
  readonly control: readonly string[];
  /** A run for each row that was committed; `null` where there is no database. */
  readonly booked: readonly string[] | null;
  readonly turnedDown: { readonly stale: number; readonly repeated: number };
}

export interface SinksOptions {
  readonly url: string;
  readonly prefix: string;
  readonly database?: { readonly pool: Pool; readonly schema: string };
}

const TENANT = 'default';

/** The sinks of the chaos crons, seen from outside; see test/pods/chaos-sink.ts for the other side. */
export class Sinks {
  readonly #redis: Redis;

  constructor(private readonly options: SinksOptions) {
    this.#redis = new Redis(options.url);
  }

  /** Makes what the crons expect to be there. */
  async prepare(): Promise<void> {
    const { database } = this.options;
    if (!database) return;
    await database.pool.query(`create schema if not exists "${database.schema}"`);
    await database.pool.query(`create table ${tableIn(database.schema)} (run text not null, attempt int not null)`);
  }

  /** What became of the effect that a person is asked about: whether the sink has seen it. */
  async hasActed(runId: string): Promise<boolean> {
    return (await this.#asked()).some(({ run, what }) => run === runId && what === 'act');
  }

  /** Beside the acts, so that their order is known. */
  async noteAnswer(runId: string, answer: 'done' | 'not-done'): Promise<void> {
    await this.#redis.xadd(this.#journal('asked'), '*', 'run', runId, 'what', answer);
  }

  async snapshot(): Promise<SinkSnapshot> {
    const [fenced, keyed] = [this.#table('chaos-fenced'), this.#table('chaos-keyed')];
    const [stale, repeated] = await Promise.all([fenced.turnedDown(), keyed.turnedDown()]);
    return {
      fenced: (await fenced.journal()).map((entry) => ({ ...actOf(entry), fence: entry.fence })),
      keyed: (await keyed.journal()).map(actOf),
      asked: await this.#asked(),
      control: (await this.#notes('control')).map(({ run }) => run),
      booked: await this.#booked(),
      turnedDown: { stale: stale.stale, repeated: stale.repeated + repeated.repeated },
    };
  }

  async close(): Promise<void> {
    await this.#redis.quit();
  }

  #table(table: string): RedisFencedRows {
    return new RedisFencedRows({ redis: this.#redis, prefix: this.options.prefix, tenant: TENANT, table });
  }

  #journal(name: string): string {
    return `${this.options.prefix}:chaos-${name}`;
  }

  async #asked(): Promise<AskedEntry[]> {
    return (await this.#notes('asked')).map(({ run, what }) => ({ run, what: what as AskedEntry['what'] }));
  }

  async #notes(name: string): Promise<{ readonly run: string; readonly what: string }[]> {
    const entries = await this.#redis.xrange(this.#journal(name), '-', '+');
    return entries.map(([, [, run = '', , what = '']]) => ({ run, what }));
  }

  async #booked(): Promise<string[] | null> {
    const { database } = this.options;
    if (!database) return null;
    const { rows } = await database.pool.query<{ run: string }>(`select run from ${tableIn(database.schema)}`);
    return rows.map(({ run }) => run);
  }
}

function tableIn(schema: string): string {
  return `"${schema}".chaos_booked`;
}

/** An idempotency key is `<run id>/<effect>`. */
function actOf({ row, idempotencyKey }: { readonly row: string; readonly idempotencyKey: string }): Act {
  return { run: idempotencyKey.split('/')[0] ?? '', key: idempotencyKey, fence: null, row };
}
