import { randomUUID } from 'node:crypto';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { startPrivatePostgres } from '../../scripts/postgres.mjs';
import { startRedis } from '../../scripts/redis.mjs';
import { atOne, atTen, onPostgres, onRedis, transaction, transactionAtTen } from './throughput.mjs';
import { postgresSteps } from './postgres-steps.mjs';
import { retention } from './retention.mjs';
import { inside } from './inside.mjs';
import { alone, effect, heartbeats, items } from './round-trips.mjs';

const CASES = {
  redis: onRedis,
  ten: atTen,
  one: atOne,
  postgres: onPostgres,
  transaction,
  'transaction-ten': transactionAtTen,
  'postgres-steps': postgresSteps,
  inside,
  alone,
  effect,
  items,
  heartbeats,
  retention,
};

const ON_POSTGRES = new Set(['postgres', 'postgres-steps', 'transaction', 'transaction-ten']);

/** All on the same servers, which are ended with us. */
export async function runCases({ cases, seconds, quick }, print) {
  delete process.env.REDIS_URL;
  const server = await startRedis({ log: (line) => console.error(line) });
  const postgres = cases.some((name) => ON_POSTGRES.has(name))
    ? await startPrivatePostgres({ asDeployed: true })
    : undefined;
  const redis = await connectRedis({ url: server.url, commandTimeoutMs: 10_000, name: 'bench' });
  const urls = { redis: server.url, postgres: postgres?.url };
  const space = () => `bench-${randomUUID().slice(0, 8)}`;
  const results = [];
  try {
    for (const name of cases) {
      const result = { name, ...(await CASES[name]({ redis, urls, space, seconds, quick })) };
      if (quick) for (const claim of result.claims) claim.holds = null;
      print(table(result));
      results.push(result);
      await redis.flushall();
    }
  } finally {
    await closeRedis(redis);
    await Promise.all([server.stop(), postgres?.stop()]);
  }
  const ok = results.every(({ claims }) => claims.every(({ holds }) => holds !== false));
  return { ok, seconds, quick, cases: results };
}

/** For people; the closing line is for programs. */
function table({ name, who, budget = {}, claims }) {
  const width = Math.max(0, ...Object.keys(who).map((one) => one.length));
  const lines = Object.entries(who).map(([one, values]) => `  ${one.padEnd(width)}  ${figures(values)}`);
  for (const [one, rows] of Object.entries(budget)) {
    const spent = rows.map(({ command, calls, us }) => `${command} ${calls} times, ${us} µs`);
    lines.push(`  ${one}, per run: ${spent.join('; ')}`);
  }
  return [name, ...lines, ...claims.map((claim) => `  ${verdict(claim)}`), ''].join('\n');
}

function figures(values) {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${value.toLocaleString('en')}`)
    .join('  ');
}

function verdict({ name, measured, atLeast, atMost, holds, least, most }) {
  const word = { true: 'HOLDS', false: 'FAILS', null: 'not judged' }[String(holds)];
  const limit = atMost === undefined ? `claimed at least ${atLeast}` : `claimed at most ${atMost}`;
  const spread = least === undefined ? '' : ` (${least} to ${most} in single rounds)`;
  return `${word}  ${name}: ${measured}${spread}, ${limit}`;
}
