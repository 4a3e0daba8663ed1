import { quantile } from '../lease/statistics.mjs';
import { atMost, exactly } from '../run/claims.mjs';
import { auditOf } from './audit.mjs';
import { commandsDuring, sentDuring } from './redis-cost.mjs';
import { bare, both, bullmq, fencepost, nestSchedule } from './teams.mjs';
import { settled, watch } from './window.mjs';

const EVERY_SECOND = '* * * * * *';
/** Every so often a scheduler looks at all of its crons. */
const FULL_SWEEP_S = 60;
/** A pod that has just begun looks more often for the orders of operators. */
const SETTLED_S = 30;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * One cron on an idle system, in many rounds: how late a delayed job of BullMQ is depends on how the server's tenths of a
 * second happen to lie to the second, which stays the same for as long as that server runs.
 */
export async function one(bench) {
  const rounds = [];
  const seconds = Math.ceil(bench.seconds / 3);
  for (let n = 0; n < (bench.quick ? 1 : 8); n += 1) {
    rounds.push(
      await bench.onRedisOfItsOwn({ seconds }, async (own) => ({
        ours: await measured(own, fencepost, { count: 1 }),
        theirs: await measured(own, bullmq, { count: 1 }),
        bare: await measured(own, bare, { count: 1 }),
        local: await measured(own, nestSchedule, { count: 1 }),
      })),
    );
  }
  const [ours, theirs] = [pooled(rounds, 'ours'), pooled(rounds, 'theirs')];
  return {
    ours,
    peers: {
      'BullMQ Job Scheduler': theirs,
      'bare: timer and addBulk': pooled(rounds, 'bare'),
      '@nestjs/schedule, one process': pooled(rounds, 'local'),
    },
    claims: [
      atMost('p50 against BullMQ', ours.p50 / theirs.p50, 0.1),
      atMost('p99 against BullMQ', ours.p99 / theirs.p99, 0.1),
    ],
  };
}

/** More than the machine can do: what counts is that none is lost without a word. */
export async function overload(bench) {
  const count = bench.quick ? 200 : 10_000;
  const ours = await measured(bench, fencepost, { count, patienceS: 20 });
  const theirs = await measured(bench, bullmq, { count, patienceS: 20 });
  return {
    ours: without(ours, 'late'),
    peers: { 'BullMQ Job Scheduler': without(theirs, 'late') },
    claims: [
      exactly('instants without a record', ours.audit.missed + ours.audit.unexplained + ours.audit.doubled, 0),
      exactly('instants that did not run', ours.notRun, 0),
      atMost('p99 of the start, ms', ours.p99, 1_000),
    ],
  };
}

/** What crons cost that are not due, on ten pods and a worker, in a window that has a sweep over all of them in it. */
export async function idle(bench) {
  const [counts, pods] = bench.quick ? [[50], 3] : [[1_000, 10_000], 10];
  const seen = [];
  for (const count of counts) seen.push(await idleWith(bench, count, pods));
  return {
    ours: Object.fromEntries(counts.map((count, n) => [`commandsPerSecondOf${count}`, seen[n]])),
    peers: {},
    claims: [
      atMost('commands a second inside Redis', Math.max(...seen), 40),
      atMost('commands a second, with ten times the crons', seen.at(-1) / seen[0], 1.25),
    ],
  };
}

/** One pod of both roles with nothing due, as a small deployment has it most of the time. */
export async function alone(bench) {
  const team = await both({ ...bench.space('alone'), count: 1, expression: '0 0 1 1 *' });
  try {
    await sleep(bench.quick ? 3_000 : SETTLED_S * 1_000);
    const seconds = bench.quick ? bench.seconds : Math.max(bench.seconds, FULL_SWEEP_S);
    const perSecond = (await sentDuring(bench.redis, () => sleep(seconds * 1_000))) / seconds;
    return { ours: { perSecond }, peers: {}, claims: [atMost('commands sent a second', perSecond, 1.3)] };
  } finally {
    await team.end();
  }
}

async function idleWith(bench, count, pods) {
  const team = await fencepost({ ...bench.space(`idle-${count}`), count, expression: '0 0 1 1 *', pods });
  try {
    await sleep(bench.quick ? 3_000 : 20_000 + count);
    const seconds = bench.quick ? bench.seconds : Math.max(bench.seconds, FULL_SWEEP_S);
    const commands = await commandsDuring(bench.redis, () => sleep(seconds * 1_000));
    if (process.env.BENCH_DEBUG) console.error(commands);
    return Object.values(commands).reduce((sum, calls) => sum + calls, 0) / seconds;
  } finally {
    await team.end();
  }
}

async function measured(bench, team, { count, leastS, patienceS }) {
  const space = bench.space(team.name);
  const crew = await team({ ...space, count, expression: EVERY_SECOND });
  try {
    await settled({ workers: crew.workers, count, leastS, patienceS });
    const seen = await watch({ redis: bench.redis, seconds: bench.seconds, ...crew });
    const wanted = count * Math.round((seen.to - seen.from) / 1_000);
    const found = { ...seen, notRun: Math.max(0, wanted - seen.ran) };
    if (team !== fencepost) return found;
    // The auditor says nothing of the last five seconds.
    await sleep(6_000);
    return { ...found, audit: await auditOf(bench, space, seen) };
  } finally {
    await crew.end();
  }
}

/** All rounds together: where each has few samples, their p99s would be maxima. */
function pooled(rounds, who) {
  const late = rounds.flatMap((round) => round[who].late);
  const each = (field) => rounds.map((round) => Number(round[who][field].toPrecision(3)));
  return { ran: late.length, p50: quantile(late, 0.5), p99: quantile(late, 0.99), p50OfEach: each('p50') };
}

function without(values, field) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => name !== field));
}
