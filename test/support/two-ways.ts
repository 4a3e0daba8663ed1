import { randomUUID } from 'node:crypto';
import { LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { CronCatalog } from '@fencepost/operations';
import type { World } from '../../apps/cli/src/world.js';
import { fencepost, type Said } from './fencepost.js';
import { testRedis } from './redis.js';
import { SECRETS, startSchedulerApp, type RunningApp } from './scheduler-app.js';

export interface TwoWays {
  readonly running: RunningApp;
  /** What leads to the stores, and to the console in front of them. */
  readonly direct: Readonly<Record<string, string>>;
  readonly remote: Readonly<Record<string, string>>;
  ask(way: 'direct' | 'remote', args: readonly string[], around?: Partial<World>): Promise<Said>;
  /** Makes these crons, of which none comes due. */
  crons(...names: string[]): Promise<void>;
  /** A run of a cron, which has begun an effect: it ended, and the run failed; or nobody knows. */
  ended(cron: string, how: 'failed' | 'uncertain'): Promise<string>;
}

const SINCE = Date.UTC(2026, 0, 1);

/** A pod with a console, and the command line beside it: by way of the stores, and by way of the console. */
export async function startTwoWays(): Promise<TwoWays> {
  const running = await startSchedulerApp();
  const direct = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: running.prefix };
  const remote = { FENCEPOST_URL: `${running.url}/crons`, FENCEPOST_TOKEN: SECRETS.operator };
  const catalog = running.app.get(CronCatalog, { strict: false });
  const ledger = running.app.get<Ledger>(LEDGER, { strict: false });
  return {
    ...{ running, direct, remote },
    ask: (way, args, around = {}) => fencepost(args, { env: way === 'direct' ? direct : remote, ...around }),
    crons: async (...names) => {
      for (const name of names) await catalog.set(name, { expression: '0 3 1 1 *', timeZone: 'UTC' }, { by: 'test' });
    },
    ended: async (cron, how) => {
      const { json } = await fencepost(['trigger', cron, '--force', '--reason', 'x', '--json'], { env: direct });
      const { runId } = json as { runId: string };
      const nonce = randomUUID();
      const begun = await ledger.begin({ runId, nonce, worker: 'w/123456789', ttlMs: 60_000, maxAttempts: 1 });
      if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
      const attempt = { runId, nonce, fence: begun.fence };
      await ledger.beginEffect(attempt, { name: 'card', ifUnknown: 'go' });
      if (how === 'failed') {
        await ledger.finishEffect(attempt, 'card', { kind: 'done', result: '7' });
        await ledger.finish(attempt, { kind: 'failed', error: 'Error: no paper' });
      } else {
        const unresolvedEffect = { effect: 'card', item: null, unknownReason: 'timeout', since: SINCE } as const;
        await ledger.finish(attempt, { kind: 'uncertain', unresolvedEffect, error: 'nobody knows' });
      }
      return runId;
    },
  };
}
