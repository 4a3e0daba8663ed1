import { execFileSync } from 'node:child_process';
import { declare, daily, sleep } from '../scale/stage.mjs';
import { startScheduler } from '../viewers/scheduler.mjs';

/** What a boot does after every cron is held. */
const SETTLED_MS = 10_000;
const PATIENCE_MS = 120_000;
const TIMES = 4;

/** What a page asks a pod, and a scrape. */
function routes() {
  const ahead = `from=${new Date().toISOString()}&to=${new Date(Date.now() + 24 * 3_600_000).toISOString()}`;
  const api = [
    ...['crons?limit=50', 'crons?limit=500', 'crons?search=cron-77&limit=50', 'crons/cron-7'],
    ...[`crons/cron-7/timeline?${ahead}`, 'crons/cron-7/runs?limit=500', 'crons/cron-7/why?at=last', 'overview'],
    ...['triage', 'runs?state=failed&limit=100', 'runs/failures', 'upcoming?hours=24', 'leases?limit=100', 'doctor'],
  ];
  return [...api.map((path) => `/crons/api/${path}`), '/metrics'];
}

/** RSS of a scheduler pod with its page that holds all crons: before somebody looks at everything, the most meanwhile, and after. */
export async function viewedPod({ redis, url, viewed }) {
  await redis.flushall();
  const space = { redis: url, prefix: 'viewed' };
  await declare(
    { ...space, redis },
    Array.from({ length: viewed }, (_, n) => daily(n)),
  );
  const pod = await startScheduler(space);
  try {
    await held(redis, viewed);
    await sleep(SETTLED_MS);
    const before = megabytes(pod.pid);
    let most = before;
    for (const route of routes()) {
      for (let n = 0; n < TIMES; n += 1) {
        const response = await fetch(pod.url + route);
        if (response.status !== 200) throw new Error(`Expected ${route} to be answered, got ${response.status}.`);
        await response.arrayBuffer();
        most = Math.max(most, megabytes(pod.pid));
        // What is kept for a second or two is built anew once.
        if (n === 0) await sleep(2_500);
      }
    }
    return { before, most, after: megabytes(pod.pid) };
  } finally {
    await pod.end();
  }
}

async function held(redis, count) {
  const end = performance.now() + PATIENCE_MS;
  while ((await redis.keys('viewed:*cron-lease')).length < count) {
    if (performance.now() > end) throw new Error(`Expected a pod to hold ${count} crons within two minutes.`);
    await sleep(200);
  }
}

function megabytes(pid) {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024;
}
