const HOUR = 3_600_000;
const PAUSE_MS = 1_000;

/** What costs a scheduler pod the most to answer, and what it refuses. */
function worstRoutes(crons) {
  const now = Date.now();
  const span = (ms) => `from=${new Date(now - ms).toISOString()}&to=${new Date(now + 24 * HOUR).toISOString()}`;
  const day = crons.map((cron) => `/crons/api/crons/${cron}/timeline?${span(24 * HOUR)}`);
  const counted = day.map((route) => `${route}&bucket=1m&limit=5000`);
  const quarter = crons.map((cron) => `/crons/api/crons/${cron}/timeline?${span(90 * 24 * HOUR)}`);
  const why = crons.map((cron) => `/crons/api/crons/${cron}/why?at=last`);
  const runs = crons.map((cron) => `/crons/api/crons/${cron}/runs?limit=500`);
  const years = '/timeline?from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z';
  return [
    ...[...day, ...counted, ...quarter, ...why, ...runs, `/crons/api/crons/${crons[0]}${years}`],
    ...[
      '/crons/api/upcoming?hours=168',
      '/crons/api/doctor',
      '/crons/api/overview',
      '/crons/api/crons?limit=500',
      '/crons/api/leases?limit=1000',
    ],
    ...['/crons/api/runs?state=failed&limit=1000', '/crons/api/journal?limit=1000', '/crons/queues/api/job-schedulers'],
  ];
}

/**
 * So many viewers, each of whom asks one route after the other, a second after the last answer, or when a refusal says so; and
 * listens for events all the time.
 */
export async function view({ url, crons, viewers, ms, headers = {} }) {
  const routes = worstRoutes(crons);
  const end = performance.now() + ms;
  const over = AbortSignal.timeout(ms + 30_000);
  const seen = { answered: 0, statuses: {}, refusedWithoutRetryAfter: 0, longestMs: 0 };
  const listening = new AbortController();
  const one = async (n) => {
    await sleep((n * PAUSE_MS) / viewers);
    void fetch(`${url}/crons/api/events`, { headers, signal: listening.signal }).catch(() => {});
    for (let at = n; performance.now() < end; at += 1) {
      const since = performance.now();
      const response = await fetch(url + routes[at % routes.length], { headers, signal: over });
      await response.arrayBuffer();
      seen.answered += 1;
      seen.longestMs = Math.max(seen.longestMs, performance.now() - since);
      seen.statuses[response.status] = (seen.statuses[response.status] ?? 0) + 1;
      const again = response.headers.get('retry-after');
      const isRefused = response.status === 429 || response.status === 503;
      if (isRefused && again === null) seen.refusedWithoutRetryAfter += 1;
      await sleep(isRefused ? Number(again ?? 1) * 1_000 : PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: viewers }, (_, n) => one(n)));
  listening.abort();
  return seen;
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
