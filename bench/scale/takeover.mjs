import { median, quantile } from '../lease/statistics.mjs';
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
const LOOK_MS = 10;

/**
 * SIGKILL of one of three pods, while a tenth of all crons is due every second; several times, because how long it takes depends on
 * where between two heartbeats and two instants it falls. Each has a Redis of its own: without a worker, open runs pile up.
 */
export async function takeover(bench) {
  const kills = [];
  while (kills.length < bench.kills) kills.push(await bench.onServer((space) => killOne(space, bench)));
  return figures(kills, bench.takeover);
}

async function killOne(space, { takeover: count, quick }) {
  const definitions = Array.from({ length: count }, (_, n) => cronOf(n, `${n % EVERY_S}-59/${EVERY_S} * * * * *`));
  await declare({ ...space, redis: space.client }, definitions);
  const { crew } = await boot(space, count, { processes: PODS });
  const enqueued = new Enqueued(space.client, space.prefix);
  try {
    await sleep(quick ? 2_000 : 15_000);
    const from = Date.now();
    // At any moment between two of its heartbeats.
    await sleep((quick ? 3_000 : CALM_MS) + Math.random() * HEARTBEAT_MS);
    const at = Date.now();
    const dead = await crew.kill(0);
    while (Date.now() - at < EXPIRED_MS && sum(await crew.ask('held')) < count) await sleep(LOOK_MS);
    const heldMs = Date.now() - at;
    await sleep(quick ? 5_000 : AFTER_MS);
    return figuresOf(enqueued.runs, { count, from, at, dead, heldMs, to: Date.now() - 5_000 });
  } finally {
    await enqueued.stop();
    await crew.end();
  }
}

function figuresOf(runs, { count, from, at, dead, heldMs, to }) {
  const late = (first, last) =>
    runs.filter(({ scheduledAt }) => scheduledAt >= first && scheduledAt < last).map(({ lateMs }) => lateMs);
  const [calm, hit] = [late(from, at - 1_000), late(at - 1_000, at + heldMs)];
  return { dead, heldMs, calm, hit, lost: lostOf(runs, { count, from, to }) };
}

function figures(kills, count) {
  const held = kills.map((kill) => kill.heldMs);
  const range = { leastHeldMs: Math.min(...held), mostHeldMs: Math.max(...held) };
  const [hit, calm] = [kills.flatMap((kill) => kill.hit), kills.flatMap((kill) => kill.calm)];
  const [heldMs, p99Ms, calmP99Ms] = [median(held), quantile(hit, 0.99) ?? Infinity, quantile(calm, 0.99)];
  const dead = median(kills.map((kill) => kill.dead));
  return {
    ours: { crons: count, kills: kills.length, dead, heldMs, ...range, p99Ms, maxMs: Math.max(...hit), calmP99Ms },
    peers: { 'expiry of a lease': { heldMs: TTL_MS } },
    ratios: { expiry: heldMs / TTL_MS, p99: p99Ms / calmP99Ms },
    claims: [
      [`SIGKILL until the ${dead} crons of the pod are held, median of ${kills.length}, ms`, heldMs, 1_500],
      ['p99 of the instants meanwhile, ms', p99Ms, 1_500],
      ['instants lost', sum(kills.map(({ lost }) => lost)), 0, 'count'],
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
