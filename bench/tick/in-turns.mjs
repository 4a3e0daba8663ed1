import { median, quantile } from '../lease/statistics.mjs';
import { atMost, exactly, shown } from '../run/claims.mjs';
import { auditOf } from './audit.mjs';
import { Member } from './crew.mjs';
import { bare, bullmq, fencepost } from './teams.mjs';
import { watch } from './window.mjs';

const TEAMS = [fencepost, bullmq, bare];
const ROUNDS = 7;
const MINUTE_S = 60;
const EVERYBODY = Array.from({ length: MINUTE_S }, (_, second) => second);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * 1,000 crons that are due together every second, for three teams in turns. All are there from the beginning, and each has slots of
 * its own in every minute: another load of the machine harms all of them, and none is measured before it is warm.
 */
export async function thousand(bench) {
  const form = bench.quick
    ? { count: 50, slotS: 4, rounds: 1, warmUp: 0 }
    : { count: 1_000, slotS: 10, rounds: ROUNDS, warmUp: 2 };
  return onServers(bench, [], async (servers) => {
    const crews = [];
    try {
      for (const [n, team] of TEAMS.entries()) crews.push(await openCrew(team, servers[n], { ...form, turn: n }));
      const rounds = await takeTurns(crews, form);
      const [ours] = crews;
      // The auditor says nothing of the last five seconds.
      await sleep(6_000);
      const audit = await auditOf(ours, ours.space, { from: rounds[0][0].from, to: rounds.at(-1)[0].to });
      return judge(rounds, { audit, wanted: form.count * (form.slotS - 1) });
    } finally {
      for (const crew of crews) await crew.end();
    }
  });
}

/** Each on a server of its own: what the crons of others cost while they are not due is not measured with it. */
async function onServers(bench, servers, run) {
  if (servers.length === TEAMS.length) return run(servers);
  return bench.onRedisOfItsOwn({}, (own) => onServers(bench, [...servers, own], run));
}

async function openCrew(team, { redis, space }, { count, slotS, turn }) {
  const seconds = EVERYBODY.filter((second) => Math.floor(second / slotS) % TEAMS.length === turn);
  const own = space(team.name);
  return {
    redis,
    space: own,
    turn,
    ...(await team({ ...own, count, seconds, expression: `${seconds.join(',')} * * * * *` })),
  };
}

/** A window leaves out the first instant of its slot: the last runs of the team before may still be under way. */
async function takeTurns(crews, { slotS, rounds, warmUp }) {
  const seen = [];
  for (let n = 0; n < warmUp + rounds; n += 1) {
    const round = [];
    for (const crew of crews) {
      await untilSlot(crew.turn, slotS);
      round.push(await watch({ ...crew, seconds: slotS - 1 }));
    }
    if (n >= warmUp) seen.push(round);
  }
  return seen;
}

async function untilSlot(turn, slotS) {
  const slotMs = slotS * 1_000;
  const now = Date.now();
  const slots = Math.ceil((now % (MINUTE_S * 1_000)) / slotMs);
  const ahead = (turn + MINUTE_S * TEAMS.length - slots) % TEAMS.length;
  await sleep((slots + ahead) * slotMs - (now % (MINUTE_S * 1_000)));
}

function judge(rounds, { audit, wanted }) {
  const [ours, theirs, floor] = [0, 1, 2].map((who) =>
    figuresOf(
      rounds.map((round) => round[who]),
      wanted,
    ),
  );
  const against = (name, { who, field, limit }) => {
    const ratios = rounds.map((round) => round[0][field] / round[who][field]);
    const spread = { least: shown(Math.min(...ratios)), most: shown(Math.max(...ratios)) };
    return { ...atMost(name, median(ratios), limit), ...spread };
  };
  return {
    ours: { ...ours, audit },
    peers: { 'BullMQ Job Scheduler': theirs, 'bare: timer and addBulk': floor },
    claims: [
      exactly('instants that did not run', ours.notRun, 0),
      exactly('instants without a record', audit.missed + audit.unexplained + audit.doubled, 0),
      against('p99 against BullMQ', { who: 1, field: 'p99', limit: 0.5 }),
      against('node of the schedulers a tick, against bare', { who: 2, field: 'schedulerUs', limit: 1.4 }),
    ],
  };
}

function figuresOf(windows, wanted) {
  const fields = ['p50', 'p99', 'schedulerUs', 'nodeUs', 'redisUs'];
  const medians = fields.map((field) => [field, shown(median(windows.map((window) => window[field])))]);
  const notRun = windows.reduce((sum, { ran }) => sum + Math.max(0, wanted - ran), 0);
  return { windows: windows.length, ...Object.fromEntries(medians), notRun };
}

/** 10,000 at one instant, several times, against a bare worker that is given as many jobs in between. */
export async function burst(bench) {
  const { count, rounds } = bench.quick ? { count: 200, rounds: 1 } : { count: 10_000, rounds: ROUNDS };
  const team = await fencepost({ ...bench.space('burst'), count, expression: '0,30 * * * * *' });
  const worker = await Member.start('bullmq', bench.space('drain'));
  try {
    const seen = [];
    // Not the first one: processes that have hardly run yet need three times the processor time.
    for (let n = 0; n <= rounds; n += 1) {
      const late = await oneBurst(team, count);
      const { told: drainMs } = await worker.ask('jobs', { count });
      seen.push({ ran: late.length, p50: quantile(late, 0.5), p99: quantile(late, 0.99), drainMs });
    }
    return judgeBursts(seen, count);
  } finally {
    await worker.end();
    await team.end();
  }
}

const HALF_MINUTE_MS = 30_000;

/** How late each handler of the next burst begins, ms. */
async function oneBurst({ workers: [worker] }, count) {
  await worker.ask('mark');
  const at = Math.ceil(Date.now() / HALF_MINUTE_MS) * HALF_MINUTE_MS;
  await sleep(at - Date.now());
  let late = [];
  while (late.length < count && Date.now() < at + HALF_MINUTE_MS - 5_000) {
    await sleep(500);
    late = (await worker.ask('take')).late;
  }
  return late;
}

function judgeBursts([first, ...warm], count) {
  const ratios = warm.map(({ p99, drainMs }) => p99 / drainMs);
  const spread = { least: shown(Math.min(...ratios)), most: shown(Math.max(...ratios)) };
  const of = (field) => shown(median(warm.map((one) => one[field])));
  return {
    ours: { bursts: warm.length, p50: of('p50'), p99: of('p99'), firstP99: shown(first.p99) },
    peers: { 'bare worker drains as many': { p99: of('drainMs'), firstP99: shown(first.drainMs) } },
    claims: [
      exactly(
        'crons that did not run',
        [first, ...warm].reduce((sum, { ran }) => sum + count - ran, 0),
        0,
      ),
      { ...atMost('p99 against the drain', median(ratios), 2), ...spread },
    ],
  };
}
