import { canGoFirst, goFirst, canPin, pin } from './go-first.mjs';
import { measure, ratioOf } from './rounds.mjs';
import { NODES, DELAYS_MS, PATIENCE_MS } from './settings.mjs';
import { seeded, median } from './statistics.mjs';
import { startRedis } from '../../scripts/redis.mjs';
import { moveAway } from './distance.mjs';

/** @param {(line: string) => void} say hears each case as it is done */
export async function runCases({ cases, ...options }, say) {
  const random = seeded(options.seed);
  const judged = new Map();
  // The quorum's first: a server has to be up for a while before it votes.
  const five = cases.some(({ quorum }) => quorum) ? await startServers(NODES, { pinned: false }) : undefined;
  const one = await startServers(1, { pinned: true });
  try {
    for (const kase of cases) {
      const servers = kase.quorum ? five : one;
      const excuse = kase.frozen ? servers.excuse : undefined;
      const result = excuse ? skipped(kase, excuse) : await judgeCase(kase, { servers, options, random, judged });
      judged.set(kase.name, result);
      say(excuse ? `${kase.name}: ${excuse}\n` : table(result));
    }
  } finally {
    await Promise.all([one.stop(), five?.stop()]);
  }
  return closing([...judged.values()], options);
}

async function judgeCase(kase, { servers, options, random, judged }) {
  const measured = await measure(kase, { servers, options, random });
  return judge(kase, measured, { earlier: judged, quick: options.quick });
}

function skipped({ name, unit }, excuse) {
  return { name, unit, ours: excuse, peers: {}, ratio: null, claims: [] };
}

function closing(cases, { rounds, seed, quick }) {
  const ok = cases.every(({ claims }) => claims.every(({ holds }) => holds !== false));
  return { ok, node: process.version, rounds, seed, quick, pinned: canPin, undisturbed: canGoFirst, cases };
}

/** For people; the closing line is for programs. */
function table({ name, unit, roundTripsUs, ours, peers, claims }) {
  const rows = [['ours', ours], ...Object.entries(peers)];
  const width = Math.max(...rows.map(([who]) => who.length));
  const lines = rows.map(([who, value]) => `  ${who.padEnd(width)}  ${figure(value)}`);
  const trips = `  a bare round trip: ${roundTripsUs.join(', ')} µs`;
  return [`${name}: ${unit}`, trips, ...lines, ...claims.map((claim) => `  ${sentence(claim)}`), ''].join('\n');
}

function figure(value) {
  return typeof value === 'number' ? value.toLocaleString('en').padStart(9) : `${value}`;
}

function sentence({ against, measured, holds, because, atMost, atLeast, timesBetter }) {
  const than = timesBetter ? `${measured} times better than ${against}` : `${measured} × ${against}`;
  if (because) return `(no claim) ${than}: ${because}`;
  const limit = atMost === undefined ? `at least ${atLeast ?? timesBetter}` : `at most ${atMost}`;
  const verdict = { true: 'HOLDS', false: 'FAILS', null: 'not judged' }[String(holds)];
  return `${verdict}  ${than}, claimed ${limit}`;
}

/** Private ones, each ended with us: a shared server would be measured with everything else it does. */
async function startServers(count, { pinned }) {
  delete process.env.REDIS_URL;
  const servers = [];
  // One after the other: the first may have to install what all of them are.
  while (servers.length < count) servers.push(await startRedis({ log: (line) => console.error(line) }));
  for (const { pid } of servers) (pinned ? pin : goFirst)(pid);
  const urls = servers.map(({ url }) => url);
  const away = count > 1 ? await moveAway(urls.map((url, n) => ({ url, delayMs: DELAYS_MS[n] }))) : undefined;
  // The nearest, which every majority has had so far.
  const frozen = servers[0]?.pid;
  return {
    urls,
    /** The same, each as far away as the nodes of a quorum are. */
    urlsAway: away?.urls,
    /** Why none can be frozen, or nothing. */
    excuse: frozen === undefined ? 'skipped: needs a redis-server of this machine, not one in a container' : undefined,
    freezeOne: () => process.kill(frozen, 'SIGSTOP'),
    thaw: () => process.kill(frozen, 'SIGCONT'),
    stop: () => Promise.all([away?.stop(), ...servers.map((server) => server.stop())]),
  };
}

/**
 * A case as the closing line shows it.
 * @param {Map<string, { ours: number }>} earlier the cases that were judged before, for a claim against one of them
 */
function judge(kase, { values, excuses, roundTripsUs }, { earlier, quick }) {
  const ours = values.get(kase.ours);
  const claims = kase.claims
    .filter(({ against }) => !excuses.has(against))
    .map((claim) => judgeClaim(claim, { ours, theirs: baseOf(claim, { values, earlier, ours }), quick }));
  const peers = [...kase.peers, ...(kase.patient ?? [])];
  return {
    name: kase.name,
    unit: kase.unit,
    roundTripsUs,
    ours: shown(median(ours)),
    peers: Object.fromEntries(peers.map((name) => [name, excuses.get(name) ?? shown(median(values.get(name)))])),
    ratio: claims[0]?.measured ?? null,
    claims,
  };
}

/** What a claim compares with, a value per round. */
function baseOf(claim, { values, earlier, ours }) {
  if (!claim.case) return values.get(claim.against);
  const before = earlier.get(claim.case);
  return before && ours.map(() => before.ours);
}

function judgeClaim({ case: _, ...claim }, { ours, theirs, quick }) {
  if (!theirs) return { ...claim, measured: null, holds: null };
  const ratio = ratioOf(ours, theirs);
  const measured = shown(claim.timesBetter ? 1 / ratio : ratio);
  if (claim.claim === null || quick) return { ...claim, measured, holds: null };
  return { ...claim, measured, holds: holdsWithin(claim, measured) };
}

function holdsWithin({ atMost, atLeast, timesBetter }, measured) {
  return atMost === undefined ? measured >= (atLeast ?? timesBetter) : measured <= atMost;
}

/** Three digits are more than a run can repeat. */
function shown(value) {
  return Number.isFinite(value) ? Number(value.toPrecision(3)) : `> ${PATIENCE_MS / 1_000} s`;
}
