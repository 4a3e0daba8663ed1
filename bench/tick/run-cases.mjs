import { randomUUID } from 'node:crypto';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { startRedis } from '../../scripts/redis.mjs';
import { alone, idle, one, overload } from './cases.mjs';
import { handover } from './handover.mjs';
import { burst, thousand } from './in-turns.mjs';
import { takeover } from './takeover.mjs';
import { timers } from './timers.mjs';

const CASES = { handover, one, thousand, overload, burst, idle, alone, timers, takeover };

/** One case after the other, each on a Redis of its own: what one leaves behind would be measured with the next. */
export async function runCases({ cases, seconds, quick }, print) {
  const results = [];
  for (const name of cases) {
    const result = { name, ...(await onRedisOfItsOwn({ seconds, quick }, CASES[name])) };
    if (quick) for (const claim of result.claims) claim.holds = null;
    print(table(result));
    results.push(result);
  }
  return {
    ok: results.every(({ claims }) => claims.every(({ holds }) => holds !== false)),
    seconds,
    quick,
    cases: results,
  };
}

async function onRedisOfItsOwn(bench, run) {
  delete process.env.REDIS_URL;
  const server = await startRedis({ log: (line) => console.error(line) });
  const redis = await connectRedis({ url: server.url, commandTimeoutMs: 10_000, name: 'bench' });
  const space = (name) => ({ redis: server.url, prefix: `bench-${name}-${randomUUID().slice(0, 8)}` });
  try {
    const again = (settings, work) => onRedisOfItsOwn({ ...bench, ...settings }, work);
    return await run({ ...bench, redis, space, onRedisOfItsOwn: again });
  } finally {
    await closeRedis(redis);
    await server.stop();
  }
}

/** For people; the closing line is for programs. */
function table({ name, ours, peers, claims }) {
  const rows = [['ours', ours], ...Object.entries(peers)];
  const width = Math.max(...rows.map(([who]) => who.length));
  const lines = rows.map(([who, values]) => `  ${who.padEnd(width)}  ${figures(values)}`);
  const verdicts = claims.map((claim) => {
    const verdict = { true: 'HOLDS', false: 'FAILS', null: 'not judged' }[String(claim.holds)];
    const limit = claim.atMost === undefined ? `claimed ${claim.exactly}` : `claimed at most ${claim.atMost}`;
    const spread = claim.least === undefined ? '' : ` (${claim.least} to ${claim.most} in single rounds)`;
    return `  ${verdict}  ${claim.name}: ${claim.measured}${spread}, ${limit}`;
  });
  return [name, ...lines, ...verdicts, ''].join('\n');
}

function figures(values) {
  const shown = Object.entries(values).filter(([key]) => !['from', 'to'].includes(key));
  return shown.map(([key, value]) => `${key} ${figure(value)}`).join('  ');
}

function figure(value) {
  if (typeof value !== 'number') return JSON.stringify(value);
  return Number.isInteger(value) ? value.toLocaleString('en') : String(Number(value.toPrecision(3)));
}
