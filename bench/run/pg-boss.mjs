import { createRequire } from 'node:module';
import { PgBoss } from 'pg-boss';
import { serve } from './child.mjs';
import { INSERT_ROW } from './rows.mjs';
import { Tally } from './tally.mjs';

const { Pool } = createRequire(new URL('../../package.json', import.meta.url))('pg');
const QUEUE = 'rows';

/** Workers on pg-boss, each with one job at a time, that commit a row and the end of its job in one transaction. */
await serve(async ({ postgres, concurrency }) => {
  const pool = new Pool({ connectionString: postgres, max: concurrency });
  const boss = new PgBoss({ connectionString: postgres, max: concurrency, schedule: false });
  const tally = new Tally();
  boss.on('error', (error) => tally.fail(error));
  await boss.start();
  await boss.createQueue(QUEUE);

  async function once(job) {
    const connection = await pool.connect();
    try {
      await connection.query('begin');
      await connection.query(INSERT_ROW, [job.id]);
      const db = { executeSql: (text, values) => connection.query(text, values) };
      await boss.complete(QUEUE, job.id, null, { db });
      await connection.query('commit');
      tally.count();
    } finally {
      connection.release();
    }
  }

  async function work() {
    for (;;) {
      const [job] = await boss.fetch(QUEUE, { batchSize: 1 });
      if (!job) return;
      await once(job);
    }
  }

  return {
    async fill({ count }) {
      await boss.insert(
        QUEUE,
        Array.from({ length: count }, (_, n) => ({ data: { n } })),
      );
    },
    drain: ({ count }) => tally.window(count, () => Promise.all(Array.from({ length: concurrency }, work))),
    async stop() {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
});
