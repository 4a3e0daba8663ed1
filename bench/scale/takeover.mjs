import { quantile } from '../lease/statistics.mjs';
import { Enqueued } from './enqueued.mjs';
import { boot, cronOf, declare, sleep, sum } from './stage.mjs';

const PODS = 3;
/** A lease without a takeover ends by itself after this long. */
const TTL_MS = 10_000;
const HEARTBEAT_MS = 1_000;
const EVERY_S = 10;
const CALM_MS = 10_000;
const AFTER_MS = 15_000;
const EXPIRED_MS = 60_000;

/** SIGKILL of one of three pods, while a tenth of all crons is due every second. */
export async function takeover(bench) {
  const count = bench.takeover;
  return bench.onServer(async (space) => {
    const definitions = Array.from({ length: count }, (_, n) => cronOf(n, `${n % EVERY_S}-59/${EVERY_S} * * * * *`));
    await declare({ ...space, redis: space.client }, definitions);
    const { crew } = await boot(space, count, { processes: PODS });
    const enqueued = new Enqueued(space.client, space.prefix);
    try {
      await sleep(bench.quick ? 2_000 : 15_000);
      const from = Date.now();
      await sleep(bench.quick ? 3_000 : CALM_MS);
      // At any moment between two of its heartbeats.
      await sleep(Math.random() * HEARTBEAT_MS);
      const at = Date.now();
      const dead = await crew.kill(0);
      const heldMs = await untilHeld(crew, count, at);
      await sleep(bench.quick ? 5_000 : AFTER_MS);
      return figures({ runs: enqueued.runs, count, from, at, dead, heldMs, endedAt: Date.now() });
    } finally {
      await enqueued.stop();
      await crew.end();
    }
  });
}

async function untilHeld(crew, count, since) {
  while (Date.now() - since < EXPIRED_MS) {
    if (sum(await crew.ask('held')) >= count) return Date.now() - since;
    await sleep(10);
  }
  return EXPIRED_MS;
}

function figures({ runs, count, from, at, dead, heldMs, endedAt }) {
  const late = (first, last) =>
    runs.filter(({ scheduledAt }) => scheduledAt >= first && scheduledAt < last).map(({ lateMs }) => lateMs);
  const [calm, hit] = [late(from, at - 1_000), late(at - 1_000, at + heldMs)];
  const p99 = quantile(hit, 0.99) ?? 0;
  return {
    ours: { crons: count, dead, heldMs, p99Ms: p99, maxMs: Math.max(...hit), calmP99Ms: quantile(calm, 0.99) },
    peers: { 'expiry of a lease': { heldMs: TTL_MS } },
    ratios: { expiry: heldMs / TTL_MS, p99: p99 / quantile(calm, 0.99) },
    claims: [
      [`SIGKILL until the ${dead} crons of the pod are held, ms`, heldMs, 1_500],
      ['p99 of the instants meanwhile, ms', p99, 1_500],
      ['instants lost', lostOf(runs, { count, from, to: endedAt - 5_000 }), 0, 'count'],
    ],
  };
}

function runOf({ cron, scheduledAt }) {
  return `${cron}@${scheduledAt}`;
}

/** Instants between these times that nobody enqueued. */
function lostOf(runs, { count, from, to }) {
  const seen = new Set(runs.map(runOf));
  let lost = 0;
  for (let at = Math.ceil(from / 1_000) * 1_000; at < to; at += 1_000) {
    for (let n = (at / 1_000) % EVERY_S; n < count; n += EVERY_S) if (!seen.has(`cron-${n}@${at}`)) lost += 1;
  }
  return lost;
}
