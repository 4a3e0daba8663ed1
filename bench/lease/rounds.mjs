import { excuseOf } from './contenders.mjs';
import { Crew } from './crew.mjs';
import { roundTripsUs } from './distance.mjs';
import { median, shuffled } from './statistics.mjs';

/** Of those who may hang at the first one. */
const A_FEW = 20;

/**
 * Measures one case: everybody once per round, in an order that changes with each, after rounds that only warm up.
 * @returns {Promise<{ values: Map<string, number[]>, excuses: Map<string, string>, roundTripsUs: number[] }>} for each
 *   contender a value per round, or one for all of them; and what a round trip to each server takes
 */
export async function measure(kase, { servers, options, random }) {
  const all = [kase.ours, ...kase.peers, ...(kase.patient ?? [])];
  const how = { mayFetch: !options.quick };
  const excuses = new Map(all.map((name) => [name, excuseOf(name, how)]).filter(([, excuse]) => excuse));
  const here = (names) => names.filter((name) => !excuses.has(name));
  const urls = urlsOf(kase, servers);
  const trips = await roundTripsUs(urls);
  const crew = await Crew.open({ room: kase.name, names: here(all), urls, pinned: !kase.quorum });
  try {
    const names = here([kase.ours, ...kase.peers]);
    await inRounds(crew, names, { kase, options, random, rounds: options.quick ? 0 : kase.work.warmUp });
    if (kase.frozen) servers.freezeOne();
    const values = await inRounds(crew, names, { kase, options, random, rounds: options.rounds });
    for (const [name, value] of await onceEach(crew, here(kase.patient ?? []), kase)) values.set(name, [value]);
    return { values: kase.overall ? together(values, kase) : values, excuses, roundTripsUs: trips };
  } finally {
    if (kase.frozen) servers.thaw();
    await crew.dismiss();
  }
}

function urlsOf({ quorum, away }, { urls, urlsAway }) {
  if (!quorum) return urls.slice(0, 1);
  return away ? urlsAway : urls;
}

/** One value of all rounds together: a p99 needs many samples. */
function together(values, { overall }) {
  return new Map([...values].map(([name, perRound]) => [name, [overall(perRound)]]));
}

async function inRounds(crew, names, { kase, options, random, rounds }) {
  const { workload } = kase.work;
  const count = options.quick ? 2 : kase.work.count;
  const values = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of shuffled(names, random)) {
      values.get(name).push(kase.value(await crew.work(name, { workload, count }), count));
    }
  }
  return values;
}

function onceEach(crew, names, { work: { workload }, value }) {
  return Promise.all(
    names.map(async (name) => [name, value(await crew.work(name, { workload, count: A_FEW }), A_FEW)]),
  );
}

/** The median over the rounds of what one had divided by what the other had in the same round. */
export function ratioOf(ours, theirs) {
  return median(ours.map((value, round) => value / theirs[round]));
}
