import { RedisLeaseStore } from '@fencepost/lease/redis';
import { RedisLedger } from '@fencepost/ledger/redis';
import { median, quantile } from '../lease/statistics.mjs';
import { atMost, shown } from '../run/claims.mjs';
import { fencepost } from './teams.mjs';

const PERIOD_S = 10;
const LOOK_MS = 25;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** From the SIGKILL of one of three pods to the last of its crons with another one, and how late their instants were meanwhile. */
export async function takeover(bench) {
  const [count, rounds] = bench.quick ? [60, 1] : [10_000, 5];
  const seen = [];
  for (let n = 0; n < rounds; n += 1) {
    seen.push(await bench.onRedisOfItsOwn({}, (own) => afterKill(own, count, n % 3)));
  }
  const late = seen.flatMap((round) => round.late);
  const each = seen.map(({ tookMs }) => shown(tookMs));
  return {
    ours: {
      crons: count,
      orphans: seen.map(({ orphans }) => orphans),
      tookMs: each,
      lateP50: shown(quantile(late, 0.5)),
    },
    peers: {},
    claims: [
      atMost('kill to the last holder, ms, median', median(each), 1_500),
      atMost('p99 of the lateness in that window, ms', quantile(late, 0.99), 1_500),
    ],
  };
}

async function afterKill(bench, count, victim) {
  const space = bench.space('takeover');
  // Each every ten seconds, a tenth of them in each second.
  const team = await fencepost({ ...space, count, expression: `H/${PERIOD_S} * * * * *` });
  const at = { redis: bench.redis, prefix: space.prefix, tenant: 'default' };
  const [leases, ledger] = [new RedisLeaseStore({ ...at, kind: 'cron' }), new RedisLedger(at)];
  const names = Array.from({ length: count }, (_, n) => `cron-${n}`);
  try {
    await allHeld(leases, names);
    await sleep(PERIOD_S * 1_000);
    const before = await holders(leases, names);
    const holder = [...new Set(before.values())].find((name) => name.startsWith(`scheduler-${victim}`));
    const orphans = names.filter((name) => before.get(name) === holder);
    const killedAt = Date.now();
    await team.schedulers[victim].end();
    const isElsewhere = (held) => orphans.every((name) => held.has(name) && held.get(name) !== holder);
    while (!isElsewhere(await holders(leases, orphans))) await sleep(LOOK_MS);
    const tookMs = Date.now() - killedAt;
    await sleep(5_000);
    const late = [];
    for (const cron of orphans) {
      for (const { scheduledAt, claimedAt } of await ledger.runs(cron, 3)) {
        if (scheduledAt > killedAt && scheduledAt <= killedAt + tookMs) late.push(claimedAt - scheduledAt);
      }
    }
    return { orphans: orphans.length, tookMs, late };
  } finally {
    await team.end();
  }
}

async function allHeld(leases, names) {
  while ((await holders(leases, names)).size < names.length) await sleep(500);
}

async function holders(leases, names) {
  const held = new Map();
  for (let n = 0; n < names.length; n += 500) {
    const part = names.slice(n, n + 500);
    (await leases.inspect(part)).forEach((holding, m) => holding && held.set(part[m], holding.holder));
  }
  return held;
}
