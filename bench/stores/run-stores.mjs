import { median, quantile, seeded, shuffled } from '../lease/statistics.mjs';
import { excuseOf, OPEN } from './open-stores.mjs';
import { measureRenewals } from './renewals.mjs';

const [COUNT, QUICK_COUNT, WARM_UP] = [50, 2, 2];
const YARDSTICK = 'redis';

/** @param {{ cases: readonly string[], rounds: number, seed: number, quick?: boolean }} options */
export async function runStores({ cases, rounds, seed, quick = false }, say) {
  const names = new Set([YARDSTICK, ...cases]);
  const opened = new Map();
  try {
    for (const name of names) if (!excuseOf(name)) opened.set(name, await OPEN[name]());
    const samples = await inRounds(opened, { rounds, random: seeded(seed), quick });
    const results = cases.map((name) => resultOf(name, samples));
    for (const result of results) {
      say(sentence(result));
      const renewal = opened.has(result.name) && (await measureRenewals(opened.get(result.name), quick));
      if (!renewal) continue;
      result.renewal = renewal;
      say(renewalSentence(renewal));
    }
    return { ok: true, node: process.version, rounds, seed, quick, cases: results };
  } finally {
    for (const { close } of opened.values()) await close();
  }
}

/** @returns {Promise<Map<string, { ours: number[], bare: number[] }>>} a median in µs for each round */
async function inRounds(opened, { rounds, random, quick }) {
  const samples = new Map([...opened.keys()].map((name) => [name, { ours: [], bare: [] }]));
  const warmUp = quick ? 0 : WARM_UP;
  for (let round = 0; round < warmUp + rounds; round += 1) {
    for (const [name, store] of shuffled([...opened], random)) {
      const measured = await measure(store, quick ? QUICK_COUNT : COUNT);
      if (round < warmUp) continue;
      samples.get(name).ours.push(measured.ours);
      samples.get(name).bare.push(measured.bare);
    }
  }
  return samples;
}

let named = 0;

/** One at a time, each of a resource that nobody has held; the release is not timed. */
async function measure({ acquire, bare }, count) {
  const [ours, floors] = [[], []];
  for (let n = 0; n < count; n += 1) {
    const resource = `stores-${(named += 1)}`;
    const release = await timed(ours, () => acquire(resource));
    await release();
    if (bare) await timed(floors, bare);
  }
  return { ours: quantile(ours, 0.5), bare: quantile(floors, 0.5) };
}

async function timed(times, work) {
  const since = performance.now();
  const result = await work();
  times.push((performance.now() - since) * 1_000);
  if (!result) throw new Error('An uncontended lease was refused.');
  return result;
}

/** Ratios are medians over the rounds, each of two figures of the same round. */
function resultOf(name, samples) {
  const excuse = excuseOf(name);
  const { ours, bare } = samples.get(name) ?? {};
  const unit = 'µs for an acquire, p50, one at a time';
  if (excuse) return { name, unit, ours: excuse, ratio: null, bareRatio: null, claims: [] };
  return {
    name,
    unit,
    ours: shown(median(ours)),
    ratio: ratioOf(ours, samples.get(YARDSTICK).bare),
    bareRatio: bare.some(Number.isFinite) ? ratioOf(ours, bare) : null,
    claims: [],
  };
}

function ratioOf(ours, theirs) {
  return shown(median(ours.map((value, round) => value / theirs[round])));
}

function shown(value) {
  return Number(value.toPrecision(2));
}

function sentence({ name, ours, ratio, bareRatio }) {
  if (ratio === null) return `${name.padEnd(10)} ${ours}`;
  const own = bareRatio === null ? '' : `, ${bareRatio} × its own bare request`;
  return `${name.padEnd(10)} ${ratio} × a bare SET NX PX${own}   (${ours} µs)`;
}

function renewalSentence({ crons, session, leases, bareRatio }) {
  return (
    `${''.padEnd(10)} renews ${crons} crons by ${session.requests} requests as a session (${session.us} µs, ${bareRatio} × the ` +
    `least), by ${leases.requests} as leases (${leases.us} µs)`
  );
}
