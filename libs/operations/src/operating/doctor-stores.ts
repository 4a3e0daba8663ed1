import {
  judgeServer,
  type Demands,
  type Finding,
  type FindingCode,
  type ServerFacts,
} from '@fencepost/lease/internal/redis-checks';
import { judgePostgres } from '@fencepost/ledger/durability';
import type { DoctorFacts, DoctorFinding, DoctorRule, DoctorFindingLevel } from './doctor-facts.js';
import { workers } from './doctor-pods.js';
import { found, listed, took } from './doctor-words.js';

const DAY_MS = 24 * 3_600_000;
/** Whoever comes back from a week off is still told. */
const REMEMBERED_MS = 7 * DAY_MS;
/** A worker declares its crons some seconds after its start, and again every 10 s. */
const DECLARED_BY_MS = 60_000;

export const STORE_RULES: readonly DoctorRule[] = [
  unread,
  servers,
  historyChanges,
  toldWarnings,
  rebornCatalog,
  lostDefinitions,
  pausedQueue,
  postgresTables,
  postgresRights,
  postgresSettings,
  unfitTtls,
];

const POSTGRES_INSTEAD = 'or keep runs in PostgreSQL: FENCEPOST_LEDGER=postgres';

const REDIS_TODOS: Readonly<Record<FindingCode, string>> = {
  OLD_VERSION: 'Upgrade it to Redis 7, or to Valkey.',
  EVICTION: 'redis-cli CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
  REPLICA: 'Set REDIS_URL to the primary, or REDIS_SENTINELS or REDIS_CLUSTER to those who know it.',
  NO_PERSISTENCE: `redis-cli CONFIG SET appendonly yes, and the same in redis.conf; ${POSTGRES_INSTEAD}.`,
  NO_APPEND_ONLY_FILE: `redis-cli CONFIG SET appendonly yes, and the same in redis.conf; ${POSTGRES_INSTEAD}.`,
  APPEND_FAILS: 'Make room on its disk; "redis-cli INFO persistence" says when it writes again.',
  APPEND_FSYNC: `redis-cli CONFIG SET appendfsync always, and the same in redis.conf; ${POSTGRES_INSTEAD}.`,
  COMMIT_NOT_DURABLE: 'Write "synchronous_commit = on" and "fsync = on" in postgresql.conf.',
  ASYNC_REPLICATION: `Set FENCEPOST_WAIT_REPLICAS=1 for all pods, ${POSTGRES_INSTEAD}.`,
  KEYS_WERE_EVICTED: 'fencepost audit compares what is recorded with the schedules; keep noeviction in redis.conf too.',
  MEMORY_NEARLY_FULL: 'redis-cli CONFIG SET maxmemory to more, or lower FENCEPOST_KEEP_RUNS and FENCEPOST_KEEP_FOR.',
  CLOCK_SKEW: 'Let NTP set both clocks ("chronyc tracking" or "timedatectl" tell how they are).',
  UNCHECKED: 'Allow it to this user: redis-cli ACL SETUSER <user> +info +config|get +time; or check by hand.',
  RESTARTED: 'Nothing, unless the machine had lost its power: then fencepost audit.',
  HISTORY_LOST: 'fencepost audit tells what is missing; "fencepost uncertain" what is to be answered.',
};

/** Of these nobody says that they are lost: the expectation is only that of whoever needs them to last. */
const LEVELS: Readonly<Record<Finding['danger'], DoctorFindingLevel>> = { refuse: 'bad', warn: 'warn' };

function unread({ unread: parts }: DoctorFacts): DoctorFinding[] {
  return parts.map(({ what, error }) => {
    const text = `It could not be asked, so nothing is known of it: ${error}`;
    return found('bad', {
      code: 'UNREAD',
      subject: what,
      text,
      todo: 'See that it answers, and ask again: fencepost doctor.',
    });
  });
}

/** What has to last for the jobs for which a duplicate is damage: leases alone, where runs are in PostgreSQL, need not. */
function demandsOf(facts: DoctorFacts): Demands {
  const critical = workers(facts).some((pod) => (pod.critical ?? []).length > 0);
  const criticality = critical && facts.ledger === 'redis' ? 'correctness' : 'efficiency';
  const waited = facts.pods.map(({ waitReplicas = 0 }) => waitReplicas);
  return { criticality, awaitedReplicas: waited.length === 0 ? 0 : Math.min(...waited) };
}

function servers(facts: DoctorFacts): DoctorFinding[] {
  return (facts.redis?.servers ?? []).flatMap((server) => serverFindings(server, facts));
}

function serverFindings(server: ServerFacts, facts: DoctorFacts): DoctorFinding[] {
  const demands = demandsOf(facts);
  const findings = judgeServer(server, demands);
  const critical = [...new Set(workers(facts).flatMap((pod) => pod.critical ?? []))];
  const shown = findings.map(({ code, danger, message }) => {
    const who =
      demands.criticality === 'correctness' && !EITHER_WAY.has(code)
        ? ` A duplicate of ${listed(critical)} is damage.`
        : '';
    return redisFinding(LEVELS[danger], { code, address: server.address, text: message + who });
  });
  return [...shown, ...onlyForCorrectness(server, facts, demands)];
}

/** They say nothing of whether what was written lasts. */
const EITHER_WAY: ReadonlySet<string> = new Set([
  'OLD_VERSION',
  'EVICTION',
  'REPLICA',
  'MEMORY_NEARLY_FULL',
  'CLOCK_SKEW',
  'UNCHECKED',
]);

/** Told beforehand: a job that needs it would be refused when it starts. */
function onlyForCorrectness(server: ServerFacts, facts: DoctorFacts, demands: Demands): DoctorFinding[] {
  if (demands.criticality === 'correctness' || facts.ledger !== 'redis') return [];
  const now = new Set(judgeServer(server, demands).map(({ code }) => code));
  const then = judgeServer(server, { ...demands, criticality: 'correctness' });
  return then
    .filter(({ code }) => !now.has(code))
    .map(({ code, message }) => {
      const text = `${message} No live job says that a duplicate is damage, so that it costs work at the most.`;
      return redisFinding('note', { code, address: server.address, text });
    });
}

interface OfServer {
  readonly code: string;
  readonly address: string;
  readonly text: string;
}

function redisFinding(level: DoctorFindingLevel, { code, address, text }: OfServer): DoctorFinding {
  const todo = (REDIS_TODOS as Readonly<Record<string, string>>)[code] ?? null;
  return found(level, { code, subject: `redis ${address}`, text, todo });
}

function historyChanges({ redis, now }: DoctorFacts): DoctorFinding[] {
  const changes = (redis?.changes ?? []).filter(({ at }) => now - at <= REMEMBERED_MS);
  return changes.map(({ code, address, text, at }) => {
    const level = code === 'HISTORY_LOST' && now - at <= DAY_MS ? 'warn' : 'note';
    return redisFinding(level, { code, address, text: `${text} Noticed ${took(now - at)} ago.` });
  });
}

/** What pods noticed themselves, who look at each reconnection: between two examinations a server may be another one twice. */
function toldWarnings({ happened, redis, now }: DoctorFacts): DoctorFinding[] {
  const known = new Set((redis?.changes ?? []).map(({ code }) => code));
  const seen = new Set<string>();
  return happened.flatMap(({ event, detail, at, pod }) => {
    const code = String(detail['code']);
    if (event !== 'store.warning' || !TOLD.has(code) || known.has(code) || seen.has(code) || now - at > DAY_MS)
      return [];
    seen.add(code);
    const text = `${String(detail['found'])} Noticed by ${pod} ${took(now - at)} ago.`;
    return [redisFinding(code === 'HISTORY_LOST' ? 'warn' : 'note', { code, address: 'of the leases', text })];
  });
}

const TOLD: ReadonlySet<string> = new Set(['HISTORY_LOST', 'RESTARTED']);

/** A first deployment makes the catalog some seconds after its first worker; later only one that was lost is made anew. */
function rebornCatalog(facts: DoctorFacts): DoctorFinding[] {
  const { bornAt, now } = facts;
  if (bornAt === null || now - bornAt > REMEMBERED_MS) return [];
  const before = workers(facts).filter(
    ({ handlers, startedAt, clockSkewMs }) =>
      handlers.length > 0 && bornAt - (startedAt - clockSkewMs) > DECLARED_BY_MS,
  );
  if (before.length === 0) return [];
  const text = `The catalog was made anew ${took(now - bornAt)} ago, while workers that had declared their crons were running: what Redis had is lost.`;
  const todo =
    'fencepost audit tells what is missing; crons that were made or paused by hand have to be made or paused again.';
  return [found('warn', { code: 'CATALOG_REBORN', subject: 'catalog', text, todo })];
}

function lostDefinitions({ lost: { count, names } }: DoctorFacts): DoctorFinding[] {
  if (count === 0) return [];
  const rest = count > names.length ? ` and ${count - names.length} more` : '';
  const text = `The ledger knows crons of which the catalog has no definition, and none of them fires: ${names.join(', ')}${rest}.`;
  const todo =
    'Make them again: fencepost set <cron> <expression>, or deploy the build that declares them. One that had been removed ' +
    'before the catalog was lost needs nothing.';
  return [found('bad', { code: 'DEFINITIONS_LOST', subject: 'catalog', text, todo })];
}

function pausedQueue({ redis }: DoctorFacts): DoctorFinding[] {
  if (!redis?.queuePaused) return [];
  const text = 'The queue is paused as a whole: instants are claimed and enqueued, and no worker takes any.';
  const todo = 'Resume it on the board, at /queues. To stop single crons: fencepost pause <cron> --reason <words>.';
  return [found('bad', { code: 'QUEUE_PAUSED', subject: 'queue', text, todo })];
}

function postgresTables({ postgres }: DoctorFacts): DoctorFinding[] {
  if (!postgres || postgres.version === null) return [];
  const { schema, version, expectedVersion, functionsFit } = postgres;
  const about = { subject: `postgres schema ${schema}`, todo: 'fencepost migrate --postgres <url>' };
  const expected = `Expected the ledger's tables of version ${expectedVersion}`;
  if (version === 0) return [found('bad', { ...about, code: 'NO_TABLES', text: `${expected}, found none.` })];
  if (version < expectedVersion) {
    return [found('bad', { ...about, code: 'OLD_TABLES', text: `${expected}, found version ${version}.` })];
  }
  if (version > expectedVersion) {
    const text = `${expected} at most, found version ${version}: a newer release has migrated them.`;
    return [
      found('bad', {
        ...about,
        code: 'NEWER_TABLES',
        text,
        todo: 'Update the pods to that release: "fencepost pods" shows theirs.',
      }),
    ];
  }
  if (functionsFit) return [];
  const text = `The ledger's functions are of another release than this program.`;
  return [found('warn', { ...about, code: 'OTHER_FUNCTIONS', text })];
}

function postgresRights({ postgres }: DoctorFacts): DoctorFinding[] {
  if (!postgres || postgres.missing.length === 0) return [];
  const { schema, missing } = postgres;
  const text = `This role lacks rights in the schema "${schema}": ${listed(missing)}.`;
  const todo =
    `GRANT USAGE ON SCHEMA ${schema} TO <role>; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} ` +
    `TO <role>.`;
  return [found('bad', { code: 'MISSING_RIGHTS', subject: `postgres schema ${schema}`, text, todo })];
}

function postgresSettings({ postgres }: DoctorFacts): DoctorFinding[] {
  return judgePostgres(postgres?.settings ?? {}).map(({ danger, message, line }) =>
    found(LEVELS[danger], {
      code: 'POSTGRES_SETTING',
      subject: 'postgres',
      text: message,
      todo: line && `Write ${line}, then reload it: SELECT pg_reload_conf().`,
    }),
  );
}

/** Row by row the latest: what a pod measured, of how long its leases are held. */
function unfitTtls({ happened, now }: DoctorFacts): DoctorFinding[] {
  const seen = new Set<string>();
  return happened.flatMap(({ event, detail, at, pod }) => {
    const about = String(detail['about']);
    if (event !== 'lease.ttl-unfit' || seen.has(about) || now - at > DAY_MS) return [];
    seen.add(about);
    const [ttlMs, advisedMs] = [Number(detail['ttlMs']), Number(detail['advisedTtlMs'])];
    const how =
      detail['verdict'] === 'too-short'
        ? 'too short: some are lost when a renewal is'
        : 'far longer than needed: a crash blocks them for it';
    const text = `As measured by ${pod}, the ttl of ${took(ttlMs)} of the leases ${about} is ${how}.`;
    const todo = `Set a ttl of ${took(advisedMs)} where they are acquired.`;
    return [found('warn', { code: 'TTL_UNFIT', subject: about, text, todo })];
  });
}
