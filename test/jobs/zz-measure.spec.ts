import { it } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { RedisJournal } from '@fencepost/operations/journal';
import { privateRedis } from '../support/redis.js';
import { givePast } from '../support/past-runs.js';
import { parseFence } from '@fencepost/lease';
import { happened } from '../contracts/journal.contract.js';

it('measures', { timeout: 100_000 }, async () => {
  const server = await privateRedis();
  const redis = await connectRedis({ url: server.url, commandTimeoutMs: 20_000, name: 'test' });
  const space = { redis, prefix: 'm', tenant: 'default' };
  const ledger = new RedisLedger(space);
  const at0 = Math.floor(Date.now() / 1000) * 1000 - 100_000;
  const reply = await ledger.claim({ cron: 'one', fence: parseFence('1000'), term: 't', holder: 'h', generation: 1, nonce: 'n', cursor: null, skips: [], occurrence: { scheduledAt: at0, dueAt: at0, reason: 'schedule', missed: null }, overlap: 'allow' });
  const runId = `one@${at0}`;
  const begun = await ledger.begin({ runId, nonce: 'a', worker: 'w/123456789', ttlMs: 60_000, maxAttempts: 1 });
  await ledger.finish({ runId, nonce: 'a', fence: begun.fence }, { kind: 'succeeded' });
  await givePast(space, { cron: 'many', instants: Array.from({ length: 86_400 }, (_, n) => at0 - n * 1000), like: runId });
  const cpu = async () => { const i = await redis.info('cpu'); return Number(/used_cpu_user_main_thread:([\d.]+)/.exec(i)?.[1]) + Number(/used_cpu_sys_main_thread:([\d.]+)/.exec(i)?.[1]); };
  const measure = async (what, calls, work) => { const b = await cpu(); const t = performance.now(); const r = await work(); const a = await cpu(); console.log(what, 'cpu ms per call', ((a - b) * 1000 / calls).toFixed(2), 'wall', (performance.now() - t).toFixed(0)); return r; };
  const span = { from: at0 - 90_000_000, to: at0 + 1 };
  for (let i = 0; i < 2; i++) await measure('tally', 72, () => ledger.tally('many', { ...span, bucketMs: 60_000, graceMs: 0, most: 100_000 }));
  await measure('account 5000', 20, () => ledger.account('many', span.from, span.to, 5_000));
  // journal
  const journal = new RedisJournal(space);
  const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  const before = await used();
  const detail = { fence: '1787654321123456', holder: 'pod-7/0d9f1f6e', cause: 'it could not be renewed in time', lateByMs: 1200 };
  const N = 40_000;
  await measure('journal 200', N / 200, async () => {
    for (let n = 0; n < N; n += 200) await journal.append(Array.from({ length: 200 }, (_, k) => happened('lease.lost', { cron: `tenant-${n + k}-cron`, runId: null, detail })));
  });
  console.log('journal bytes', (await used()) - before, 'entries', 30_000);
  await measure('ofCron', 100, async () => { for (let n = 0; n < 100; n++) await journal.ofCron('tenant-39990-cron', { limit: 100 }); });
  const b2 = await used();
  for (let n = 0; n < 40_000; n += 200) await journal.append(Array.from({ length: 200 }, (_, k) => happened('attempt.failed', { cron: `c-${n % 16000 + k}`, detail: { error: 'x'.repeat(500), a: 'y'.repeat(500), b: 'z'.repeat(500), c: 'w'.repeat(500) } })));
  console.log('journal of large entries', (await used()) - before);
  await closeRedis(redis); await server.stop();
});
