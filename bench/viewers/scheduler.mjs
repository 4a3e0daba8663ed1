import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../apps/scheduler/bundle/main.js', import.meta.url));
const LISTENS = / listens on (http[^\s"}]+)/;
const PATIENCE_MS = 120_000;

/** A scheduler pod as it is deployed, with its page. */
export async function startScheduler({ redis, prefix }) {
  const child = spawn(process.execPath, [PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...{ POD_NAME: 'scheduler', HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info' },
      // All viewers come from one address; what bounds them here is not how often one may ask.
      ...{ REDIS_URL: redis, FENCEPOST_PREFIX: prefix, FENCEPOST_AUTH: 'none', FENCEPOST_RATE_LIMIT: '1000000' },
    },
  });
  // It must not outlive a bench that fails.
  process.once('exit', () => child.kill('SIGKILL'));
  const lost = [];
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error('Expected the scheduler to listen within two minutes.')),
      PATIENCE_MS,
    );
    child.once('exit', () => reject(new Error('Expected the scheduler to start, its process ended.')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"event":"lease_lost"')) lost.push(line);
      const found = LISTENS.exec(line)?.[1];
      if (!found) return;
      clearTimeout(late);
      resolve(found);
    });
  });
  return {
    url,
    pid: child.pid,
    leasesLost: () => lost.length,
    async end() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
