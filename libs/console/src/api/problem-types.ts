interface ProblemType {
  readonly status: number;
  readonly title: string;
  /** What to do about it. */
  readonly remedy: string;
}

const AGAIN = 'Retry after the seconds in `Retry-After`.';
const LOOK = 'Read the state again, then decide anew. Nothing was changed.';
const STORE = 'Retry when the store answers. An order may have taken effect: check before you repeat it.';

const away = (store: string): ProblemType => ({ status: 503, title: `${store} did not answer`, remedy: STORE });

/**
 * Every problem that the API answers, by its code: `type` is `https://fencepost.dev/problems/` and the code in kebab case.
 * docs/problems.md describes each.
 */
export const PROBLEM_TYPES: Readonly<Record<string, ProblemType>> = {
  BAD_REQUEST: { status: 400, title: 'Invalid request', remedy: 'Correct the input that `detail` names.' },
  OPERATOR_INPUT: { status: 400, title: 'Invalid order', remedy: 'Correct the value that `detail` names.' },
  CRON_DECLARATION: { status: 400, title: 'Invalid definition', remedy: 'Correct the option that `detail` names.' },
  INVALID_CRONS: {
    status: 400,
    title: 'Invalid crons',
    remedy: 'Correct the lines that `problems` names; `count` says how many there are. Nothing was written.',
  },
  SCHEDULE: { status: 400, title: 'Invalid schedule', remedy: 'Correct the expression or the time zone.' },
  UNAUTHENTICATED: {
    status: 401,
    title: 'Unknown caller',
    remedy: 'Send `Authorization: Bearer <token>`, or sign in.',
  },
  FORBIDDEN: { status: 403, title: 'Role too low', remedy: 'Use a token with the role that `detail` names.' },
  CROSS_ORIGIN: { status: 403, title: 'Cross-site request', remedy: 'Send it from the page of the console itself.' },
  FOREIGN_HOST: {
    status: 403,
    title: 'Not from this machine',
    remedy: 'Configure access tokens to allow other hosts.',
  },
  NOT_FOUND: { status: 404, title: 'No such route', remedy: 'Compare the path with the OpenAPI document.' },
  CRON_UNKNOWN: { status: 404, title: 'Unknown cron', remedy: 'Run `fencepost list`, or `GET /api/crons`.' },
  RUN_UNKNOWN: { status: 404, title: 'Unknown run', remedy: 'List the runs of its cron; old records expire.' },
  RECEIVER_UNKNOWN: { status: 404, title: 'Unknown receiver', remedy: 'List them with `GET /api/receivers`.' },
  NOT_ALLOWED: { status: 405, title: 'Method not allowed', remedy: 'Use a method of the OpenAPI document.' },
  RUN_STATE: { status: 409, title: 'Run in another state', remedy: LOOK },
  STATE_CONFLICT: {
    status: 409,
    title: 'Refused in this state',
    remedy: `${LOOK} The reply of the ledger is included.`,
  },
  CATALOG_MOVED: {
    status: 409,
    title: 'Definition changed',
    remedy: `${LOOK} \`expected\` and \`found\` are generations.`,
  },
  DECLARED_CRON: {
    status: 409,
    title: 'Declared by code',
    remedy: 'Pause the cron, or remove it from the code of `apps`: live pods declare it. Nothing was changed.',
  },
  CATALOG_FULL: {
    status: 409,
    title: 'Too many crons',
    remedy:
      'Remove crons that are no longer needed, or raise `maxCrons`. `count` is how many there are, `limit` how many there may be.',
  },
  SELECTION_MOVED: {
    status: 409,
    title: 'Other crons selected',
    remedy: `${LOOK} Preview the order once more.`,
  },
  LEASE_MOVED: { status: 409, title: 'Lease changed', remedy: `${LOOK} \`found\` is the lease now, or null.` },
  DEFINITION_CONFLICT: { status: 409, title: 'Conflicting definition', remedy: LOOK },
  IDEMPOTENCY_KEY: { status: 409, title: 'Idempotency key in use', remedy: 'Use another key for another job.' },
  TOO_LARGE: { status: 413, title: 'Body too large', remedy: 'Send at most what `detail` names, by default 256 KiB.' },
  NOT_JSON: { status: 415, title: 'Not JSON', remedy: 'Send `Content-Type: application/json`.' },
  TOO_MANY_REQUESTS: { status: 429, title: 'Too many requests', remedy: AGAIN },
  TOO_MANY_QUESTIONS: { status: 429, title: 'Too many waiting requests', remedy: AGAIN },
  TOO_MANY_LISTENERS: { status: 429, title: 'Too many event streams', remedy: 'Close some of them, then retry.' },
  UNEXPECTED: { status: 500, title: 'Unexpected error', remedy: 'Read the log of the pod: it has the details.' },
  AWAY: { status: 503, title: 'Console not available', remedy: 'Retry: the process is starting or stopping.' },
  BUSY: { status: 503, title: 'Pod busy', remedy: `${AGAIN} Or ask another pod.` },
  STORE_AWAY: away('The store'),
  JOURNAL_AWAY: away('The journal'),
  NOT_REPLICATED: { ...away('The replicas'), title: 'Not replicated in time' },
  QUORUM_UNAVAILABLE: { ...away('The quorum'), title: 'No quorum' },
  ETCD: away('etcd'),
  ZOOKEEPER: away('ZooKeeper'),
  CONSUL: away('Consul'),
  POOL_EXHAUSTED: { ...away('PostgreSQL'), title: 'Connection pool exhausted' },
  CONNECTION_SILENT: away('PostgreSQL'),
  LEASES_ELSEWHERE: { ...away('The store of leases'), title: 'Leases are kept elsewhere' },
  AUDIT_NOT_WRITTEN: {
    status: 503,
    title: 'Done, but not recorded',
    remedy: "Don't repeat the order. Record elsewhere who gave it, and why.",
  },
};
