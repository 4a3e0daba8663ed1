import { crons, detail, timeline, why } from './fixture-crons.js';
import { AUDIT, FINDINGS, JOURNAL, LEASES, leases, FORECAST, PODS } from './fixture-rest.js';
import { at, CRON, FAILED, LOST_RUN, REPORT, run, UNCERTAIN } from './fixture-runs.js';

export interface Fixture {
  readonly role: 'viewer' | 'operator' | 'admin';
  /** How many crons there are. */
  readonly crons: number;
  /** Of those a scheduler holds these; default: none but the two of always. */
  readonly held?: number;
  /** How many of the last ones nobody holds. */
  readonly unheld?: number;
}

type Answer = (url: URL, fixture: Fixture) => unknown;

const cron = `crons/${CRON}`;

/** What the API answers, by its path under `/api/`. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  me: (_, { role }) => ({ name: 'anna', role, signedIn: true }),
  overview: (_, { role, crons: total }) => ({
    ...{ now: new Date().toISOString(), tenant: null, prefix: 'fencepost', ledger: 'redis', version: '0.1.0' },
    ...{
      you: { name: 'anna', role, signedIn: true },
      crons: { total, firing: total, paused: 0, disabled: 0, removed: 0 },
    },
    ...{ uncertain: 1, failed: 1, queue: { waiting: 4, active: 3, delayed: 0 }, pods: PODS },
  }),
  crons: listed,
  [cron]: () => detail(),
  [`${cron}/timeline`]: () => timeline(),
  [`${cron}/why`]: (url) => why(url.searchParams.get('at') ?? ''),
  [`${cron}/runs`]: () => ({ items: [run(), FAILED] }),
  [`${cron}/journal`]: () => ({ items: JOURNAL }),
  [`${cron}/actions`]: () => ({ items: [{ at: at(60), action: 'pause', by: 'anna', reason: 'a test', runId: null }] }),
  runs: (url) => ({ items: url.searchParams.get('state') === 'failed' ? [FAILED] : [UNCERTAIN] }),
  leases: (url, { held }) => {
    const all = held === undefined ? LEASES : leases(held);
    return { total: all.length, items: all.slice(0, Number(url.searchParams.get('limit') ?? 50)) };
  },
  pods: () => ({ items: PODS }),
  upcoming: () => FORECAST,
  doctor: () => ({ items: FINDINGS }),
  journal: () => ({ items: JOURNAL }),
  audit: () => ({ items: AUDIT }),
};

function listed({ searchParams }: URL, { crons: count, unheld = 0 }: Fixture): unknown {
  const word = searchParams.get('search') ?? '';
  const state = searchParams.get('state') ?? '';
  const all = crons(count);
  const found = (state === 'unheld' ? all.slice(count - unheld) : all).filter(
    (one) => one.name.includes(word) && (state === '' || state === 'unheld' || one.state === state),
  );
  const offset = Number(searchParams.get('offset') ?? 0);
  return { total: found.length, items: found.slice(offset, offset + Number(searchParams.get('limit') ?? 50)) };
}

/** @returns `undefined` for what is not there */
export function answer(url: URL, fixture: Fixture): unknown {
  const path = decodeURIComponent(url.pathname.slice('/api/'.length));
  if (path.startsWith('runs/'))
    return { ...REPORT, journal: JOURNAL.filter(({ runId }) => runId === LOST_RUN), logs: LOGS };
  return ANSWERS[path]?.(url, fixture);
}

const LOGS = [
  `${at(0.4)} info [attempt 1 · fence 1763607590005] the report is being made`,
  `${at(31)} warn [attempt 2 · fence 1763607590007] nobody knows whether send-mail has happened`,
];
