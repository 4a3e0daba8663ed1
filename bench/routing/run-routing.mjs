import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startRedis } from '../../scripts/redis.mjs';

const POD = new URL('./pod.mjs', import.meta.url);
const BARE_POD = new URL('./bare-pod.mjs', import.meta.url);

const PERIOD_MS = 5_000;
const OLD_PODS = 4;
/** For the last instant of a window to run in, however late. */
const GRACE_MS = 10_000;
/** Against one service alone, and BullMQ alone with as many services. A lateness of a few milliseconds is that of a timer. */
const MOST_LATER = 1.2;
const TIMER_MS = 10;

class Pod {
  #child;

  static async start({ isBare, ...about }) {
    const pod = new Pod();
    const file = fileURLToPath(isBare ? BARE_POD : POD);
    pod.#child = fork(file, [JSON.stringify(about)], { stdio: ['ignore', 2, 2, 'ipc'] });
    await pod.#heard();
    return pod;
  }

  async runs() {
    const heard = this.#heard();
    this.#child.send('runs');
    return heard;
  }

  async end() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.send('end');
    await ended;
  }

  async #heard() {
    const over = new AbortController();
    const { signal } = over;
    const ended = once(this.#child, 'exit', { signal }).then(() => {
      throw new Error('A pod of the bench ended by itself.');
    });
    try {
      return (await Promise.race([once(this.#child, 'message', { signal }), ended]))[0];
    } finally {
      over.abort();
    }
  }
}

/** @param {{ seconds: number, services: readonly number[], quick: boolean }} options */
export async function runRouting({ seconds, services, quick }, print) {
  const cases = [];
  for (const count of services) cases.push(await inTurns({ seconds, name: `services-${count}` }, shared(count)));
  cases.push(await inTurns({ seconds, name: 'rolling' }, rolling));
  const alone = cases.find(({ name }) => name === 'services-1');
  for (const one of cases) {
    one.claims = claimsOf(one, { alone, quick });
    print(line(one));
  }
  return { ok: cases.every(({ claims }) => claims.every(({ holds }) => holds !== false)), seconds, quick, cases };
}

/** With the same processes of BullMQ alone after it: what a machine does to as many timers and workers is no matter of routing. */
async function inTurns({ seconds, name }, arrange) {
  const ours = await onItsOwnRedis({ seconds, isBare: false }, arrange);
  const { lateMs: bareLateMs } = await onItsOwnRedis({ seconds, isBare: true }, arrange);
  return { name, ...ours, bareLateMs };
}

/** Each at one of five seconds: of more services, two are due together. */
const atSecond = (n) => `${n % 5}/5 * * * * *`;

const shared = (count) => (pods) =>
  Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await pods.start({ app: `service-${n}`, crons: { [`beat-${n}`]: atSecond(n) } });
    }),
  );

/** Pods of the former build stay while the first one of the next build adds a cron. */
async function rolling(pods) {
  await Promise.all(Array.from({ length: OLD_PODS }, () => pods.start({ app: 'shop', crons: { kept: atSecond(0) } })));
  await pods.start({ app: 'shop', crons: { kept: atSecond(0), added: atSecond(2) } });
}

async function onItsOwnRedis({ seconds, isBare }, arrange) {
  delete process.env.REDIS_URL;
  const server = await startRedis({ log: (text) => console.error(text) });
  const place = { redis: server.url, prefix: `bench-${randomUUID().slice(0, 8)}` };
  const started = [];
  const crons = new Map();
  const start = async ({ app, crons: declared }) => {
    for (const [cron, expression] of Object.entries(declared)) crons.set(cron, expression);
    started.push(await Pod.start({ isBare, app, crons: declared, ...place }));
  };
  try {
    await arrange({ start });
    return await window({ seconds, pods: started, crons });
  } finally {
    await Promise.all(started.map((pod) => pod.end()));
    await server.stop();
  }
}

async function window({ seconds, pods, crons }) {
  // A cron that is new takes effect a moment in the future.
  const from = Math.ceil((Date.now() + PERIOD_MS) / PERIOD_MS) * PERIOD_MS;
  const to = from + seconds * 1_000;
  const due = [...crons].flatMap(([cron, expression]) =>
    instants(expression, { from, to }).map((at) => `${cron}@${at}`),
  );
  const runs = new Map();
  let times = 0;
  while (Date.now() < to + GRACE_MS && !(Date.now() > to && due.every((one) => runs.has(one)))) {
    await sleep(500);
    for (const run of (await Promise.all(pods.map((pod) => pod.runs()))).flat()) {
      const name = `${run.cron}@${run.scheduledAt}`;
      if (!due.includes(name)) continue;
      times += 1;
      runs.set(name, run.lateMs);
    }
  }
  const late = [...runs.values()].toSorted((a, b) => a - b);
  const at = (share) => late[Math.min(late.length - 1, Math.floor(share * late.length))] ?? null;
  return { due: due.length, ran: runs.size, twice: times - runs.size, lateMs: { p50: at(0.5), p99: at(0.99) } };
}

function instants(expression, { from, to }) {
  const first = from + Number(expression[0]) * 1_000;
  return Array.from({ length: Math.ceil((to - first) / PERIOD_MS) }, (_, n) => first + n * PERIOD_MS);
}

function claimsOf({ due, ran, twice, lateMs, bareLateMs }, { alone, quick }) {
  const claims = [
    { name: 'instants that ran', measured: ran, exactly: due, holds: ran === due },
    { name: 'instants that ran twice', measured: twice, exactly: 0, holds: twice === 0 },
  ];
  if (!alone) return claims;
  const floor = Math.max(alone.lateMs.p99 ?? 0, bareLateMs.p99 ?? 0, TIMER_MS);
  const ratio = Math.max(lateMs.p99 ?? Infinity, TIMER_MS) / floor;
  const holds = quick ? null : ratio <= MOST_LATER;
  const name = 'p99 of the lateness against one service, or as many of BullMQ alone';
  return [...claims, { name, measured: ratio, atMost: MOST_LATER, holds }];
}

function line({ name, due, ran, lateMs, bareLateMs, claims }) {
  const failed = claims.filter(({ holds }) => holds === false).map((claim) => `FAILS ${claim.name}: ${claim.measured}`);
  return `${name.padEnd(12)} due ${due}  ran ${ran}  late p50 ${lateMs.p50} ms, p99 ${lateMs.p99} ms  BullMQ alone ${bareLateMs.p50}, ${bareLateMs.p99}  ${failed.join('; ')}`;
}
