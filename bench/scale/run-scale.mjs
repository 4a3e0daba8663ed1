import { randomUUID } from 'node:crypto';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { startRedis } from '../../scripts/redis.mjs';
import { canGoFirst, goFirst } from '../lease/go-first.mjs';
import { atMost, shown } from '../run/claims.mjs';
import { burst } from './burst.mjs';
import { idle } from './idle.mjs';
import { pods } from './pods.mjs';
import { takeover } from './takeover.mjs';

const OF_EACH_NUMBER = { pods, idle };
const ONCE = { takeover, burst };

export async function runScale(options, print) {
  const bench = { ...options, onServer };
  const cases = [];
  for (const name of options.cases) {
    if (name in ONCE) cases.push(await runCase({ name, run: () => ONCE[name](bench), quick: options.quick }, print));
    for (const crons of name in OF_EACH_NUMBER ? options.crons : []) {
      const run = () => OF_EACH_NUMBER[name](bench, crons);
      cases.push(await runCase({ name, crons, run, quick: options.quick }, print));
    }
  }
  const ok = cases.every(({ claims }) => claims.every(({ holds }) => holds !== false));
  return { ok, seconds: options.seconds, pods: options.pods, quick: options.quick, undisturbed: canGoFirst, cases };
}

async function runCase({ name, crons, run, quick }, print) {
  const { ours, peers, ratios, claims } = await run();
  const result = {
    name,
    ...(crons && { crons }),
    ours: shownAll(ours),
    peers: shownAll(peers),
    ratios: shownAll(ratios),
  };
  // How long something took with few crons on a machine that does other things says nothing.
  const judged = claims.map(([claim, measured, limit, kind]) => {
    const one = atMost(claim, measured, limit);
    return quick && kind !== 'count' ? { ...one, holds: null } : one;
  });
  print(table({ ...result, claims: judged }));
  return { ...result, claims: judged };
}

function shownAll(value) {
  if (typeof value === 'number') return shown(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shownAll(each)]));
}

/**
 * Each measurement has a Redis of its own: what one leaves behind would be measured with the next. It goes before the pods, which
 * have fewer processors than processes: else the slow log has what a script waited for them.
 */
async function onServer(run) {
  delete process.env.REDIS_URL;
  const server = await startRedis({ log: (line) => console.error(line) });
  goFirst(server.pid);
  const client = await connectRedis({ url: server.url, commandTimeoutMs: 120_000, name: 'bench' });
  try {
    return await run({ redis: server.url, client, prefix: `bench-${randomUUID().slice(0, 8)}` });
  } finally {
    await closeRedis(client);
    await server.stop();
  }
}

/** For people; the closing line is for programs. */
function table({ name, crons, ours, peers, ratios, claims }) {
  const rows = [['ours', ours], ...Object.entries(peers), ['ratios', ratios]];
  const width = Math.max(...rows.map(([who]) => who.length));
  const lines = rows.map(([who, values]) => `  ${who.padEnd(width)}  ${figures(values)}`);
  const verdicts = claims.map((claim) => {
    const verdict = { true: 'HOLDS', false: 'FAILS', null: 'not judged' }[String(claim.holds)];
    return `  ${verdict}  ${claim.name}: ${claim.measured}, claimed at most ${claim.atMost}`;
  });
  return [crons ? `${name}, ${crons.toLocaleString('en')} crons` : name, ...lines, ...verdicts, ''].join('\n');
}

function figures(values) {
  const shownOf = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
  return Object.entries(values)
    .map(([key, value]) => `${key} ${shownOf(value)}`)
    .join('  ');
}
