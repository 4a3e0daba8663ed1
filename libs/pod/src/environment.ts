import { readFile } from 'node:fs/promises';
import { checkedOptions, redisFromEnvironment } from '@fencepost/lease/internal/options';
import type { JobsModuleOptions } from '@fencepost/jobs';
import type { CronsTold, MetricsOptions } from '@fencepost/operations/metrics';
import { z } from 'zod';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const LEVEL = `expected one of ${LEVELS.join(', ')}`;
const PORT = 'expected a port from 0 to 65535, 0 for any free one';

/** A number as it comes from the environment; what is not one goes on as text, for the option's own check to refuse. */
const numeric = z.string().transform((text) => (/^\d+$/.test(text) ? Number(text) : text));

/** JSON as it comes from the environment; what is none goes on as text, for the option's own check to refuse. */
const json = z.string().transform((text): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
});

const CRONS = 'expected all, none, or how many crons have series of their own';
const flag = z.enum(['true', 'false'], 'expected true or false').transform((word) => word === 'true');

const wholeNumber = (least: number, most: number) => {
  const expected = `expected a whole number from ${least} to ${most}`;
  const inRange = (number: number) => number >= least && number <= most;
  return z
    .string()
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine(inRange, expected);
};

const schema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z
    .string()
    .regex(/^\d{1,5}$/, PORT)
    .transform(Number)
    .refine((port) => port <= 65_535, PORT)
    .optional(),
  LOG_LEVEL: z.enum(LEVELS, LEVEL).default('info'),
  POD_NAME: z.string().optional(),
  FENCEPOST_PREFIX: z.string().optional(),
  FENCEPOST_TENANT: z.string().optional(),
  FENCEPOST_LEASES: z.string().optional(),
  FENCEPOST_LEASE_TTL: z.string().optional(),
  FENCEPOST_RUN_LEASE: z.string().optional(),
  FENCEPOST_DRAIN_DEADLINE: z.string().optional(),
  FENCEPOST_SWEEP_EVERY: z.string().optional(),
  FENCEPOST_CONCURRENCY: numeric.optional(),
  FENCEPOST_KEEP_RUNS: numeric.optional(),
  FENCEPOST_REMOVE_AFTER: z.string().optional(),
  FENCEPOST_MIN_INTERVAL: z.string().optional(),
  FENCEPOST_MAX_CRONS: numeric.optional(),
  FENCEPOST_KEEP_FOR: z.string().optional(),
  FENCEPOST_WAIT_REPLICAS: numeric.optional(),
  FENCEPOST_LEDGER: z.string().optional(),
  FENCEPOST_TOKENS: z.string().optional(),
  FENCEPOST_TOKENS_FILE: z.string().optional(),
  FENCEPOST_AUTH_MODULE: z.string().optional(),
  FENCEPOST_AUTH: z.literal('none', 'expected none').optional(),
  FENCEPOST_METRICS_OPEN: flag.optional(),
  FENCEPOST_TRUST_PROXY: wholeNumber(0, 10).optional(),
  FENCEPOST_RATE_LIMIT: wholeNumber(10, 1_000_000).optional(),
  DATABASE_URL: z.string().optional(),
  DATABASE_PASSWORD_FILE: z.string().optional(),
  FENCEPOST_SCHEMA: z.string().optional(),
  FENCEPOST_WEBHOOKS: json.optional(),
  FENCEPOST_ALLOW_HOSTS: z.string().optional(),
  FENCEPOST_METRICS_CRONS: z
    .string()
    .regex(/^(all|none|\d{1,6})$/, CRONS)
    .transform((word): CronsTold => (word === 'all' || word === 'none' ? word : Number(word)))
    .optional(),
  FENCEPOST_TRACING: flag.optional(),
  FENCEPOST_MIGRATE: z
    .enum(['true', 'false'], 'expected true or false')
    .transform((word) => word === 'true')
    .optional(),
});

/** Who may come in through the HTTP port of a pod that has something to show. */
export interface AccessEnvironment {
  /** `name:role:sha256hex` with commas between. */
  readonly tokens?: string;
  /** The same in a file, one a line. */
  readonly tokensFile?: string;
  /** A module whose default export says who sends a request. */
  readonly authModule?: string;
  /** `none`: every program on this machine is an admin. */
  readonly auth?: 'none';
  /** Whoever reaches the pod may read its metrics. */
  readonly metricsOpen?: boolean;
  /** How many proxies in front belong to the deployment. */
  readonly trustProxy?: number;
  /** Requests of one address in a minute. */
  readonly rateLimit?: number;
}

export interface PodEnvironment {
  /** Loopback unless said otherwise: beyond it a pod wants to know who comes. */
  readonly host: string;
  readonly port: number | undefined;
  readonly logLevel: string;
  /** Shown with every log line. */
  readonly pod: string | undefined;
  readonly jobs: JobsModuleOptions;
  readonly access?: AccessEnvironment;
  readonly metrics?: MetricsOptions;
}

/**
 * Reads a pod's environment. An empty variable counts as absent, as in a compose file or a Kubernetes manifest.
 * @throws {SetupError} naming each wrong variable, what was expected, and what came
 */
export function podEnvironment(variables: NodeJS.ProcessEnv): PodEnvironment {
  const filled = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const env = checkedOptions({ owner: 'The environment', schema }, filled);
  const present = given(jobsOf(env, filled));
  const crons = env.FENCEPOST_METRICS_CRONS;
  const metrics = crons === undefined ? {} : { metrics: { crons } };
  return {
    host: env.HOST,
    port: env.PORT,
    logLevel: env.LOG_LEVEL,
    pod: env.POD_NAME,
    jobs: present as never,
    ...metrics,
    ...accessOf(env),
  };
}

/** As they came: checked again, and completely, by the module they are for. */
function jobsOf(env: z.output<typeof schema>, variables: NodeJS.ProcessEnv) {
  return {
    redis: redisFromEnvironment(variables) ?? 'redis://localhost:6379',
    prefix: env.FENCEPOST_PREFIX,
    tenant: env.FENCEPOST_TENANT,
    pod: env.POD_NAME,
    leases: env.FENCEPOST_LEASES,
    leaseTtl: env.FENCEPOST_LEASE_TTL,
    runLease: env.FENCEPOST_RUN_LEASE,
    drainDeadline: env.FENCEPOST_DRAIN_DEADLINE,
    sweepEvery: env.FENCEPOST_SWEEP_EVERY,
    concurrency: env.FENCEPOST_CONCURRENCY,
    keepRuns: env.FENCEPOST_KEEP_RUNS,
    removeAfter: env.FENCEPOST_REMOVE_AFTER,
    minInterval: env.FENCEPOST_MIN_INTERVAL,
    maxCrons: env.FENCEPOST_MAX_CRONS,
    keepFor: env.FENCEPOST_KEEP_FOR,
    waitReplicas: env.FENCEPOST_WAIT_REPLICAS,
    tracing: env.FENCEPOST_TRACING,
    ledger: env.FENCEPOST_LEDGER,
    webhooks: env.FENCEPOST_WEBHOOKS,
    alarms: allowing(env.FENCEPOST_ALLOW_HOSTS),
    // Many programs have a DATABASE_URL, and most of them not for this.
    postgres: env.FENCEPOST_LEDGER === 'postgres' ? postgresOf(env) : undefined,
  };
}

function accessOf(env: z.output<typeof schema>): { readonly access?: AccessEnvironment } {
  const access = given({
    tokens: env.FENCEPOST_TOKENS,
    tokensFile: env.FENCEPOST_TOKENS_FILE,
    authModule: env.FENCEPOST_AUTH_MODULE,
    auth: env.FENCEPOST_AUTH,
    metricsOpen: env.FENCEPOST_METRICS_OPEN,
    trustProxy: env.FENCEPOST_TRUST_PROXY,
    rateLimit: env.FENCEPOST_RATE_LIMIT,
  });
  return Object.keys(access).length === 0 ? {} : { access };
}

function postgresOf(env: z.output<typeof schema>): object | undefined {
  if (env.DATABASE_URL === undefined) return undefined;
  const file = env.DATABASE_PASSWORD_FILE;
  return given({
    url: env.DATABASE_URL,
    schema: env.FENCEPOST_SCHEMA,
    migrate: env.FENCEPOST_MIGRATE,
    // Read again for each new connection: a mounted secret may change.
    password: file === undefined ? undefined : async () => (await readFile(file, 'utf8')).replace(/\r?\n$/, ''),
  });
}

function allowing(hosts: string | undefined): object | undefined {
  return hosts === undefined ? undefined : { allowHosts: hosts.split(',').map((host) => host.trim()) };
}

function given(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
