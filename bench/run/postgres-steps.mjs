import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { migrateLedger, PostgresLedger } from '@fencepost/ledger/postgres';
import { median } from '../lease/statistics.mjs';
import { atMost, shown } from './claims.mjs';
import { Instants } from './instants.mjs';
import { postgresCost } from './postgres-cost.mjs';

const { Pool } = createRequire(new URL('../../package.json', import.meta.url))('pg');

const JOBS = Array.from({ length: 1_000 }, (_, n) => `job-${n}`);
const BATCH = 100;
/** Of each job so many finished runs are kept. */
const KEPT = 1;
const TTL_MS = 60_000;
const STEPS = ['claim', 'confirm', 'begin', 'finish', 'forget'];

/**
 * What each step of a run costs the server's processor, in batches of a hundred runs of a thousand jobs, against the same number of
 * rows that one plain statement inserts, updates or deletes.
 */
export async function postgresSteps({ urls, space, seconds, quick }) {
  const pool = new Pool({ connectionString: urls.postgres, max: 4 });
  await migrateLedger(pool, {});
  const steps = new Steps(pool, space());
  const count = quick ? 300 : 4_000;
  const rounds = [];
  const isOver = roundsOf({ seconds, quick });
  try {
    await steps.open();
    // The first two make plans and fill caches.
    for (let round = 0; !isOver(round); round += 1) {
      const order = round % 2 === 0 ? ['floor', 'run'] : ['run', 'floor'];
      const spent = {};
      for (const what of order) spent[what] = await steps[what](count);
      if (round > 1) rounds.push(spent);
    }
  } finally {
    await steps.close();
    await pool.end();
  }
  return { who: shownOf(rounds), claims: claimsOf(rounds) };
}

const MOST_AGAINST_FLOOR = 5;

/** At least five; more until the time is over. */
function roundsOf({ seconds, quick }) {
  const until = performance.now() + (quick ? 0 : seconds * 1_000);
  return (round) => round >= 5 && performance.now() >= until;
}

function shownOf(rounds) {
  const of = (what, step) => {
    const mid = (key) => shown(median(rounds.map((one) => one[what][step][key])));
    return { postgresUs: mid('postgresUs'), nodeUs: mid('nodeUs'), ms: mid('ms'), walBytes: mid('walBytes') };
  };
  return Object.fromEntries(
    ['floor', 'run'].flatMap((what) => Object.keys(rounds[0][what]).map((step) => [`${what} ${step}`, of(what, step)])),
  );
}

function claimsOf(rounds) {
  const against = (name, ours, theirs) => {
    const sum = (spent, steps) => steps.reduce((total, step) => total + spent[step].postgresUs, 0);
    return atMost(
      name,
      median(rounds.map(({ run, floor }) => sum(run, ours) / sum(floor, theirs))),
      MOST_AGAINST_FLOOR,
    );
  };
  return [
    against(
      'processor time of PostgreSQL for begin and finish, against two updates',
      ['begin', 'finish'],
      ['update', 'update'],
    ),
    against('processor time of PostgreSQL for a run, against a row that comes, changes and goes', STEPS, [
      'insert',
      'update',
      'update',
      'delete',
    ]),
  ];
}

class Steps {
  #instants = new Instants();
  #pool;
  #ledger;

  constructor(pool, prefix) {
    this.#pool = pool;
    this.#ledger = new PostgresLedger({ pool, prefix, tenant: 'bench' });
  }

  async open() {
    await this.#pool.query(
      'create table bench_floor (space text, id text, state text, primary key (space, id)) with (fillfactor = 75)',
    );
  }

  async close() {
    await this.#pool.query('drop table bench_floor');
  }

  async floor(count) {
    const batches = inBatches(Array.from({ length: count }, () => randomUUID()));
    const each = (text) => async () => {
      for (const ids of batches) await this.#pool.query({ text, values: [ids], name: text.slice(0, 20) });
    };
    return {
      insert: await this.#spent(
        count,
        each(`insert into bench_floor select 'bench', id, 'claimed' from unnest($1::text[]) id`),
      ),
      update: await this.#spent(
        count,
        each(`update bench_floor set state = 'running' from unnest($1::text[]) one where space = 'bench' and id = one`),
      ),
      delete: await this.#spent(
        count,
        each(`delete from bench_floor using unnest($1::text[]) one where space = 'bench' and id = one`),
      ),
    };
  }

  async run(count) {
    const ledger = this.#ledger;
    const claims = Array.from({ length: count }, (_, n) => this.#instants.next(JOBS[n % JOBS.length]));
    const runs = claims.map(({ cron, occurrence }) => ({
      runId: `${cron}@${occurrence.scheduledAt}`,
      nonce: randomUUID(),
    }));
    const begin = async (run) => {
      const begun = await ledger.begin({ ...run, worker: 'bench', ttlMs: TTL_MS, maxAttempts: 1 });
      run.fence = begun.fence;
    };
    const end = async (run) => expect(await ledger.finish(run, { kind: 'succeeded' }), 'succeeded');
    return {
      claim: await this.#spent(count, async () => {
        for (const batch of inBatches(claims)) {
          for (const { value } of await ledger.claimAll(batch)) expect(value?.verdict, 'claimed');
        }
      }),
      confirm: await this.#spent(count, async () => {
        for (const batch of inBatches(runs)) await ledger.confirm(batch.map(({ runId }) => runId));
      }),
      begin: await this.#spent(count, async () => {
        for (const batch of inBatches(runs)) await Promise.all(batch.map(begin));
      }),
      finish: await this.#spent(count, async () => {
        for (const batch of inBatches(runs)) await Promise.all(batch.map(end));
      }),
      forget: await this.#spent(count, async () => {
        for (const { status } of await ledger.forgetAll(JOBS, KEPT)) expect(status, 'fulfilled');
      }),
    };
  }

  /** A unit of work, in µs and bytes. */
  async #spent(count, work) {
    const before = await this.#figures();
    const since = performance.now();
    await work();
    const ms = performance.now() - since;
    const after = await this.#figures();
    const per = (key) => (after[key] - before[key]) / count;
    return { postgresUs: per('postgresUs'), nodeUs: per('nodeUs'), walBytes: per('walBytes'), ms: ms / count };
  }

  async #figures() {
    const { user, system } = process.cpuUsage();
    return { ...(await postgresCost(this.#pool)), nodeUs: user + system };
  }
}

function inBatches(all) {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, n) => all.slice(n * BATCH, (n + 1) * BATCH));
}

function expect(value, wanted) {
  if (value !== wanted) throw new Error(`Expected ${wanted}, got ${value}.`);
}
