import { systemClock } from '@fencepost/lease';
import { RedisMembership } from '@fencepost/jobs/internal';
import { audit } from '@fencepost/operations/audit';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { commandsDuring } from './redis-cost.mjs';
import { timers } from './timers.mjs';
import { Member } from './crew.mjs';
import { quantile } from '../lease/statistics.mjs';
import { settled, watch } from './window.mjs';

const EVERY_SECOND = '* * * * * *';
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

/** 1,000 crons that are due together every second. */
export async function thousand(bench) {
  const count = bench.quick ? 50 : 1_000;
  const warm = { count, leastS: bench.quick ? 3 : 15 };
  const ours = await measured(bench, fencepost, warm);
  const theirs = await measured(bench, bullmq, warm);
  const floor = await measured(bench, bare, warm);
  const local = await measured(bench, nestSchedule, warm);
  return {
    ours: without(ours, 'late'),
    peers: {
      'BullMQ Job Scheduler': without(theirs, 'late'),
      'bare: timer and addBulk': without(floor, 'late'),
      '@nestjs/schedule, one process': without(local, 'late'),
    },
    claims: [
      exactly('instants that did not run', ours.notRun, 0),
      atMost('p99 against BullMQ', ours.p99 / theirs.p99, 0.35),
      atMost('scheduler, µs of node a tick', ours.schedulerUs, 45),
      atMost('µs of Redis a tick', ours.redisUs, 90),
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
    claims: [exactly('instants without a record', ours.audit.missed + ours.audit.unexplained + ours.audit.doubled, 0)],
  };
}

/** 10,000 at one instant, against a bare worker that is given as many jobs. */
export async function burst(bench) {
  const count = bench.quick ? 200 : 10_000;
  const at = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + (bench.quick ? 10_000 : 40_000));
  const expression = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
  const team = await fencepost({ ...bench.space('burst'), count, expression });
  try {
    const patience = at.getTime() + 60_000;
    let told = { late: [] };
    while (told.late.length < count && Date.now() < patience) {
      await sleep(Math.max(500, at.getTime() - Date.now() + 500));
      told = await team.workers[0].ask('take');
    }
    await team.end();
    const drain = await Member.start('bullmq', bench.space('drain'));
    const drainMs = await drain.ask('jobs', { count }).then(({ told: ms }) => ms);
    await drain.end();
    const late = told.late.toSorted((a, b) => a - b);
    const p99 = late[Math.floor(late.length * 0.99)] ?? NaN;
    return {
      ours: { ran: late.length, p50: late[Math.floor(late.length / 2)], p99 },
      peers: { 'bare worker drains as many': { ran: count, p99: drainMs } },
      claims: [
        exactly('crons that did not run', count - late.length, 0),
        atMost('p99 against the drain', p99 / drainMs, 1.5),
      ],
    };
  } finally {
    await team.end();
  }
}

/** What 1,000 crons cost that are not due, on ten pods. */
export async function idle(bench) {
  const [count, pods] = [bench.quick ? 50 : 1_000, bench.quick ? 3 : 10];
  const team = await fencepost({ ...bench.space('idle'), count, expression: '0 0 1 1 *', pods });
  try {
    await team.workers[0].ask('stop');
    await sleep(bench.quick ? 3_000 : 15_000);
    const commands = await commandsDuring(bench.redis, () => sleep(bench.seconds * 1_000));
    const perSecond = commands / bench.seconds;
    return { ours: { commandsPerSecond: perSecond }, peers: {}, claims: [atMost('commands a second', perSecond, 15)] };
  } finally {
    await team.end();
  }
}

export { timers };

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

function atMost(name, measuredValue, limit) {
  return { name, measured: shown(measuredValue), atMost: limit, holds: measuredValue <= limit };
}

function exactly(name, measuredValue, wanted) {
  return { name, measured: measuredValue, exactly: wanted, holds: measuredValue === wanted };
}

function shown(value) {
  return Number.isFinite(value) ? Number(value.toPrecision(3)) : value;
}

/** What became of every instant of the window, from the records alone. */
async function auditOf({ redis }, { prefix }, { from, to }) {
  const space = { redis, prefix, tenant: 'default' };
  const ports = {
    catalog: new RedisCatalog(space),
    ledger: new RedisLedger(space),
    membership: new RedisMembership(space),
    clock: systemClock,
  };
  const { missed, doubled, unexplained, waiting, skipped, ran } = await audit(ports, { from, to });
  return { missed, doubled, unexplained, waiting, skipped, ran };
}

/** Three scheduler pods and one worker of ours. */
async function fencepost({ redis, prefix, count, expression, pods = 3 }) {
  const worker = await Member.start('fencepost', { role: 'worker', redis, prefix, pod: 'worker', count, expression });
  const schedulers = await Promise.all(
    Array.from({ length: pods }, (_, n) =>
      Member.start('fencepost', { role: 'scheduler', redis, prefix, pod: `scheduler-${n}` }),
    ),
  );
  return { workers: [worker], schedulers, end: () => endAll([worker, ...schedulers]) };
}

/** Job Schedulers, and the worker that re-arms them. */
async function bullmq({ redis, prefix, count, expression }) {
  const worker = await Member.start('bullmq', { redis, prefix });
  await worker.ask('schedules', { count, expression });
  return { workers: [worker], schedulers: [], end: () => endAll([worker]) };
}

/** A timer, `addBulk` and a bare worker: no lease, no record, no second replica. What is left to a scheduler on BullMQ. */
async function bare({ redis, prefix, count }) {
  const worker = await Member.start('bullmq', { redis, prefix });
  const scheduler = await Member.start('bullmq', { redis, prefix });
  await worker.ask('work');
  await scheduler.ask('ticks', { count });
  return { workers: [worker], schedulers: [scheduler], end: () => endAll([worker, scheduler]) };
}

async function nestSchedule({ count, expression }) {
  const worker = await Member.start('nest-schedule', { count, expression });
  return { workers: [worker], schedulers: [], end: () => endAll([worker]) };
}

async function endAll(members) {
  await Promise.all(members.map((member) => member.ask('stop').catch(() => {})));
  await Promise.all(members.map((member) => member.end()));
}
