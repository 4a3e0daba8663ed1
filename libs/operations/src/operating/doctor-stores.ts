import {
  judgeServer,
  type Demands,
  type Finding,
  type FindingCode,
  type ServerFacts,
} from '@fencepost/lease/internal/redis-checks';
import { judgePostgres } from '@fencepost/ledger/durability';
import type { QueueLimits } from '@fencepost/jobs/internal';
import type { DoctorFacts, DoctorFinding, DoctorRule, DoctorFindingLevel } from './doctor-facts.js';
import { workers } from './doctor-lookups.js';
import { found, listed, took } from './doctor-words.js';
import { limitsOn, type QueueLimit } from './queue-limits.js';

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
  limitedQueues,
  postgresTables,
  postgresRights,
  postgresSettings,
  unfitTtls,
];

const POSTGRES_INSTEAD = 'or keep runs in PostgreSQL: FENCEPOST_LEDGER=postgres';

const REDIS_TODOS: Readonly<Record<FindingCode, string>> = {
  OLD_VERSION: 'Upgrade it to Redis 7, or to Valkey.',
  EVICTION: 'redis-cli CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
  REPLICA: 'Set REDIS_URL to the primary, or use REDIS_SENTINELS or REDIS_CLUSTER.',
  NO_PERSISTENCE: `redis-cli CONFIG SET appendonly yes, and the same in redis.conf; ${POSTGRES_INSTEAD}.`,
  NO_APPEND_ONLY_FILE: `redis-cli CONFIG SET appendonly yes, and the same in redis.conf; ${POSTGRES_INSTEAD}.`,
  APPEND_FAILS: 'Free disk space; "redis-cli INFO persistence" shows when it writes again.',
  APPEND_FSYNC: `redis-cli CONFIG SET appendfsync always, and the same in redis.conf; ${POSTGRES_INSTEAD}.`,
  COMMIT_NOT_DURABLE: 'Write "synchronous_commit = on" and "fsync = on" in postgresql.conf.',
  ASYNC_REPLICATION: `Set FENCEPOST_WAIT_REPLICAS=1 for all pods, ${POSTGRES_INSTEAD}.`,
  KEYS_WERE_EVICTED: 'fencepost audit compares the records with the schedules; set noeviction in redis.conf too.',
  MEMORY_NEARLY_FULL: 'redis-cli CONFIG SET maxmemory to more, or lower FENCEPOST_KEEP_RUNS and FENCEPOST_KEEP_FOR.',
  CLOCK_SKEW: 'Let NTP set both clocks (check with "chronyc tracking" or "timedatectl").',
  UNCHECKED: 'Allow it for this user: redis-cli ACL SETUSER <user> +info +config|get +time; or check it manually.',
  RESTARTED: 'Nothing, unless the machine lost power; in that case run fencepost audit.',
  HISTORY_LOST: 'Run fencepost audit to see what is missing, and "fencepost uncertain" for unresolved effects.',
};

/** Of these nobody says that they are lost: the expectation is only that of whoever needs them to last. */
const LEVELS: Readonly<Record<Finding['danger'], DoctorFindingLevel>> = { refuse: 'bad', warn: 'warn' };

function unread({ unread: parts }: DoctorFacts): DoctorFinding[] {
  return parts.map(({ what, error }) => {
    const text = `It could not be read: ${error}`;
    return found('bad', {
      code: 'UNREAD',
      subject: what,
      text,
      todo: 'Make it reachable, then run fencepost doctor again.',
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
        ? ` Duplicates of ${listed(critical)} must not happen.`
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
      const text = `${message} No live job has criticality "correctness", so a duplicate costs at most extra work.`;
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
  const text = `The catalog was created again ${took(now - bornAt)} ago while workers were running: Redis had lost its data.`;
  const todo =
    'Run fencepost audit to see what is missing; repeat fencepost set and fencepost pause for changes made at run time.';
  return [found('warn', { code: 'CATALOG_REBORN', subject: 'catalog', text, todo })];
}

function lostDefinitions({ lost: { count, names } }: DoctorFacts): DoctorFinding[] {
  if (count === 0) return [];
  const rest = count > names.length ? ` and ${count - names.length} more` : '';
  const text = `The ledger has records of crons that the catalog does not define, so they do not fire: ${names.join(', ')}${rest}.`;
  const todo =
    'Define them again: fencepost set <cron> <expression>, or deploy the build that declares them. Crons removed ' +
    'before the catalog was lost need nothing.';
  return [found('bad', { code: 'DEFINITIONS_LOST', subject: 'catalog', text, todo })];
}

/** A limit that nothing waits for may well be meant; one that runs wait for is the first thing to look at. */
function limitedQueues({ redis }: DoctorFacts): DoctorFinding[] {
  return (redis?.queues ?? []).flatMap((limits) =>
    limitsOn(limits).map((limit) => {
      const level = limit.code === 'QUEUE_PAUSED' ? 'bad' : isInTheWay(limit, limits) ? 'warn' : 'note';
      const wait = limits.waiting === 1 ? '1 run waits.' : `${limits.waiting} runs wait.`;
      const text = limits.waiting > 0 ? `${limit.text} ${wait}` : limit.text;
      return found(level, { ...limit, text, subject: `queue ${limits.queue}` });
    }),
  );
}

function isInTheWay({ code }: QueueLimit, { waiting }: QueueLimits): boolean {
  return code === 'QUEUE_NOT_PAUSED' || waiting > 0;
}

function postgresTables({ postgres }: DoctorFacts): DoctorFinding[] {
  if (!postgres || postgres.version === null) return [];
  const { schema, version, minimum, expectedVersion, functionsFit } = postgres;
  const about = { subject: `postgres schema ${schema}`, todo: 'fencepost migrate --postgres <url>' };
  const expected = `Expected the ledger's tables of version ${expectedVersion}`;
  if (version === 0) return [found('bad', { ...about, code: 'NO_TABLES', text: `${expected}, found none.` })];
  if (version < expectedVersion) {
    return [found('bad', { ...about, code: 'OLD_TABLES', text: `${expected}, found version ${version}.` })];
  }
  if (minimum > expectedVersion) {
    const text = `${expected}, found version ${version}, which admits builds from ${minimum} on: a newer release has migrated the schema.`;
    return [
      found('bad', {
        ...about,
        code: 'NEWER_TABLES',
        text,
        todo: 'Update the pods to that release; "fencepost pods" shows their versions.',
      }),
    ];
  }
  if (functionsFit) return [];
  const text = `The ledger has no functions of this build, only those of others.`;
  return [found('bad', { ...about, code: 'OTHER_FUNCTIONS', text })];
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
        ? 'too short: one failed renewal can lose a lease'
        : 'far longer than needed: after a crash the resource stays blocked that long';
    const text = `As measured by ${pod}, the ttl of ${took(ttlMs)} of the leases ${about} is ${how}.`;
    const todo = `Set a ttl of ${took(advisedMs)} in the code that acquires them.`;
    return [found('warn', { code: 'TTL_UNFIT', subject: about, text, todo })];
  });
}
