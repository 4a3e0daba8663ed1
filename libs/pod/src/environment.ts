import { checkedOptions } from '@fencepost/lease';
import type { JobsModuleOptions } from '@fencepost/jobs';
import { z } from 'zod';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const LEVEL = `expected one of ${LEVELS.join(', ')}`;
const PORT = 'expected a port from 0 to 65535, 0 for any free one';

/** A number as it comes from the environment; what is not one goes on as text, for the option's own check to refuse. */
const numeric = z.string().transform((text) => (/^\d+$/.test(text) ? Number(text) : text));

const schema = z.object({
  REDIS_URL: z.string().default('redis://localhost:6379'),
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
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const env = checkedOptions({ owner: 'The environment', schema }, given);
  const jobs = {
    redis: env.REDIS_URL,
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
  };
  const present = Object.fromEntries(Object.entries(jobs).filter(([, value]) => value !== undefined));
  // Checked again, and completely, by the module it is for.
  return { host: env.HOST, port: env.PORT, logLevel: env.LOG_LEVEL, pod: env.POD_NAME, jobs: present as never };
}
