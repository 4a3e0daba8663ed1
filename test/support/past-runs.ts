import { loadScripts, redisKeys } from '@fencepost/lease/internal/redis';
import { readTexts } from '@fencepost/lease/internal/texts';
import type { RedisClient } from '@fencepost/lease/redis';
import { cronOfRun } from '@fencepost/ledger/run';

const SCRIPTS = loadScripts(readTexts(new URL('./lua/', import.meta.url).href), ['copy-runs']);
/** The pods of the test ask the same server: a call with so many takes some ten milliseconds. */
const AT_ONCE = 500;
const KEPT_MS = 86_400_000;

interface Past {
  readonly cron: string;
  /** Epoch milliseconds. */
  readonly instants: readonly number[];
  /** The id of a run that a worker has ended. */
  readonly like: string;
}

/** Gives a cron a past of any length at once: copies of a run of a real worker. To run them one by one would take hours. */
export async function givePast(
  { redis, prefix }: { readonly redis: RedisClient; readonly prefix: string },
  { cron, instants, like }: Past,
): Promise<void> {
  const keyOf = redisKeys({ prefix, tenant: 'default' });
  const keys = [keyOf(cronOfRun(like), `run:${like}`), keyOf(cron, 'runs'), keyOf(cron, 'failed')];
  for (let at = 0; at < instants.length; at += AT_ONCE) {
    const some = instants.slice(at, at + AT_ONCE);
    await SCRIPTS['copy-runs'].run(redis, keys, [cron, KEPT_MS, keyOf(cron, 'run:'), ...some]);
  }
}
