import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atLeast, atMost } from './claims.mjs';

const PROGRAM = fileURLToPath(new URL('./fed-pod.mjs', import.meta.url));
const PER_SECOND = 1_500;
const KEEP_RUNS = 1_000;
/** The first sweep comes after five seconds, and tells how fast runs come. */
const WARM_UP_MS = 10_000;
const LOOK_EVERY_MS = 100;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** One job that is asked for 1,500 times a second, and how many of its runs a scheduler leaves there. */
export async function retention({ redis, urls, space, seconds, quick }) {
  const prefix = space();
  const about = { redis: urls.redis, prefix, keepRuns: KEEP_RUNS };
  const worker = await pod({ ...about, role: 'worker', perSecond: PER_SECOND });
  const scheduler = await pod({ ...about, role: 'scheduler' });
  try {
    await sleep(quick ? 6_000 : WARM_UP_MS);
    const key = `${prefix}:v1:{default:fed}:runs`;
    const [from, since] = [await finished(worker), performance.now()];
    let most = 0;
    while (performance.now() - since < seconds * 1_000) {
      most = Math.max(most, await redis.zcard(key));
      await sleep(LOOK_EVERY_MS);
    }
    const perSecond = ((await finished(worker)) - from) / ((performance.now() - since) / 1_000);
    return {
      who: { fencepost: { perSecond: Math.round(perSecond), mostKept: most, keepRuns: KEEP_RUNS } },
      claims: [
        atLeast('runs a second', perSecond, 0.95 * PER_SECOND),
        atMost('runs kept, of those that should be', most / KEEP_RUNS, 1.1),
      ],
    };
  } finally {
    await Promise.all([worker, scheduler].map(end));
  }
}

async function pod(about) {
  // Stdout belongs to the result.
  const child = fork(PROGRAM, [JSON.stringify(about)], { stdio: ['ignore', 2, 2, 'ipc'] });
  await once(child, 'message');
  return child;
}

async function finished(child) {
  const told = once(child, 'message');
  child.send('finished');
  return (await told)[0];
}

async function end(child) {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
