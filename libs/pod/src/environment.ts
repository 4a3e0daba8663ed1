import { checkedOptions, redisFromEnvironment } from '@fencepost/lease';
import type { JobsModuleOptions } from '@fencepost/jobs';
import { z } from 'zod';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const LEVEL = `expected one of ${LEVELS.join(', ')}`;
const PORT = 'expected a port from 0 to 65535, 0 for any free one';

/** A number as it comes from the environment; what is not one goes on as text, for the option's own check to refuse. */
const numeric = z.string().transform((text) => (/^\d+$/.test(text) ? Number(text) : text));

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
  FENCEPOST_LEASE_TTL: z.string().optional(),
  FENCEPOST_RUN_LEASE: z.string().optional(),
  FENCEPOST_DRAIN_DEADLINE: z.string().optional(),
  FENCEPOST_SWEEP_EVERY: z.string().optional(),
  FENCEPOST_CONCURRENCY: numeric.optional(),
  FENCEPOST_KEEP_RUNS: numeric.optional(),
  FENCEPOST_BUILD_SEQ: numeric.optional(),
  FENCEPOST_APP: z.string().optional(),
  FENCEPOST_MIN_INTERVAL: z.string().optional(),
  FENCEPOST_KEEP_FOR: z.string().optional(),
  FENCEPOST_WAIT_REPLICAS: numeric.optional(),
  FENCEPOST_LEDGER: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  FENCEPOST_SCHEMA: z.string().optional(),
  FENCEPOST_MIGRATE: z
    .enum(['true', 'false'], 'expected true or false')
    .transform((word) => word === 'true')
    .optional(),
});

export interface PodEnvironment {
  /** Loopback unless said otherwise: nothing here has a password yet. */
  readonly host: string;
  readonly port: number | undefined;
  readonly logLevel: string;
  /** Shown with every log line. */
  readonly pod: string | undefined;
  readonly jobs: JobsModuleOptions;
}

/**
 * Reads a pod's environment. An empty variable counts as absent, as in a compose file or a Kubernetes manifest.
 * @throws {SetupError} naming each wrong variable, what was expected, and what came
 */
export function podEnvironment(variables: NodeJS.ProcessEnv): PodEnvironment {
  const filled = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const env = checkedOptions({ owner: 'The environment', schema }, filled);
  const jobs = {
    redis: redisFromEnvironment(filled) ?? 'redis://localhost:6379',
    prefix: env.FENCEPOST_PREFIX,
    tenant: env.FENCEPOST_TENANT,
    pod: env.POD_NAME,
    leaseTtl: env.FENCEPOST_LEASE_TTL,
    runLease: env.FENCEPOST_RUN_LEASE,
    drainDeadline: env.FENCEPOST_DRAIN_DEADLINE,
    sweepEvery: env.FENCEPOST_SWEEP_EVERY,
    concurrency: env.FENCEPOST_CONCURRENCY,
    keepRuns: env.FENCEPOST_KEEP_RUNS,
    buildSeq: env.FENCEPOST_BUILD_SEQ,
    app: env.FENCEPOST_APP,
    minInterval: env.FENCEPOST_MIN_INTERVAL,
    keepFor: env.FENCEPOST_KEEP_FOR,
    waitReplicas: env.FENCEPOST_WAIT_REPLICAS,
    ledger: env.FENCEPOST_LEDGER,
    // Many programs have a DATABASE_URL, and most of them not for this.
    postgres: env.FENCEPOST_LEDGER === 'postgres' ? postgresOf(env) : undefined,
  };
  const present = given(jobs);
  // Checked again, and completely, by the module it is for.
  return { host: env.HOST, port: env.PORT, logLevel: env.LOG_LEVEL, pod: env.POD_NAME, jobs: present as never };
}

function postgresOf(env: z.output<typeof schema>): object | undefined {
  if (env.DATABASE_URL === undefined) return undefined;
  return given({ url: env.DATABASE_URL, schema: env.FENCEPOST_SCHEMA, migrate: env.FENCEPOST_MIGRATE });
}

function given(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
