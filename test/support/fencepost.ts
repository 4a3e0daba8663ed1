import { run } from '../../apps/cli/src/run.js';
import type { World } from '../../apps/cli/src/world.js';
import { parseFence } from '@fencepost/lease';
import type { Redis } from 'ioredis';
import type { CronDefinition, Declaration } from '@fencepost/ledger/catalog';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { RedisMembership } from '@fencepost/jobs/internal';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The last line of stdout, read. */
  readonly json: unknown;
}

/** What `fencepost` says to a command line, without a process of its own. */
export async function fencepost(args: readonly string[], around: Partial<World> = {}): Promise<Said> {
  let [out, err] = ['', ''];
  const code = await run(args, {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    env: {},
    now: Date.now,
    width: 100,
    user: () => 'otto',
    read: () => Promise.reject(new Error('Expected no file to be read.')),
    interrupted: () => new AbortController().signal,
    ...around,
  });
  const last = out.trimEnd().split('\n').at(-1) ?? '';
  return { code, out, err, json: args.includes('--json') && last !== '' ? JSON.parse(last) : undefined };
}

export function declared(name: string, expression = '0 3 * * *', more: Partial<CronDefinition> = {}): Declaration {
  const policies = { misfire: 'fire-once', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  return { definition: { name, expression, timeZone: 'UTC', ...policies, ...more }, disabled: false };
}

interface Space {
  readonly redis: Redis;
  readonly prefix: string;
  readonly tenant: string;
}

/** A deployment whose worker has declared some crons, and the program that is told where it is. */
export class FencepostDeployment {
  readonly catalog: RedisCatalog;
  readonly ledger: RedisLedger;
  readonly membership: RedisMembership;
  readonly trail: RedisAuditTrail;
  readonly prefix: string;
  readonly env: Readonly<Record<string, string>>;

  private constructor(space: Space) {
    this.catalog = new RedisCatalog(space);
    this.ledger = new RedisLedger(space);
    this.membership = new RedisMembership(space);
    this.trail = new RedisAuditTrail(space);
    this.prefix = space.prefix;
    const { host, port } = space.redis.options;
    this.env = { REDIS_URL: `redis://${host}:${port}`, FENCEPOST_PREFIX: space.prefix };
  }

  static async of(space: Space, declarations: readonly Declaration[]): Promise<FencepostDeployment> {
    const made = new FencepostDeployment(space);
    if (declarations.length > 0) await made.catalog.declare(declarations, { revision: 7, app: 'app' });
    return made;
  }

  ask(...args: string[]) {
    return fencepost(args, { env: this.env });
  }

  json(...args: string[]) {
    return this.ask(...args, '--json');
  }

  /** The run of an instant that came and was claimed. */
  async claimed(cron: string, scheduledAt: number): Promise<string> {
    const { entries } = await this.catalog.read();
    const generation = entries.find(({ definition }) => definition.name === cron)?.generation ?? 0;
    const reply = await this.ledger.claim({
      ...{ cron, fence: parseFence('1000'), term: 'term', holder: 'scheduler/1', generation, nonce: `${scheduledAt}` },
      ...{ cursor: (await this.ledger.readCron(cron)).cursor, skips: [], overlap: 'allow' },
      occurrence: { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null },
    });
    if (reply.verdict !== 'claimed') throw new Error(`Expected a claimed run, got ${JSON.stringify(reply)}.`);
    return reply.runId;
  }
}
