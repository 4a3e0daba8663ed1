import { startRedis } from '../../scripts/redis.mjs';
import { moveAway } from './distance.mjs';
import { goFirst } from './go-first.mjs';
import { pin } from './one-cpu.mjs';
import { DELAYS_MS } from './settings.mjs';

/** Private ones, each ended with us: a shared server would be measured with everything else it does. */
export async function startServers(count, { pinned }) {
  delete process.env.REDIS_URL;
  const servers = [];
  // One after the other: the first may have to install what all of them are.
  while (servers.length < count) servers.push(await startRedis({ log: (line) => console.error(line) }));
  for (const { pid } of servers) (pinned ? pin : goFirst)(pid);
  const urls = servers.map(({ url }) => url);
  const away = count > 1 ? await moveAway(urls.map((url, n) => ({ url, delayMs: DELAYS_MS[n] }))) : undefined;
  // The nearest, which every majority has had so far.
  const frozen = servers[0]?.pid;
  return {
    urls,
    /** The same, each as far away as the nodes of a quorum are. */
    urlsAway: away?.urls,
    /** Why none can be frozen, or nothing. */
    excuse: frozen === undefined ? 'skipped: needs a redis-server of this machine, not one in a container' : undefined,
    freezeOne: () => process.kill(frozen, 'SIGSTOP'),
    thaw: () => process.kill(frozen, 'SIGCONT'),
    stop: () => Promise.all([away?.stop(), ...servers.map((server) => server.stop())]),
  };
}
