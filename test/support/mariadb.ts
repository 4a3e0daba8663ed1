import { ensureProgram } from '../../scripts/debian.mjs';
import { freePort } from '../../scripts/redis.mjs';
import { serverFolder, serverProcess } from './server-process.js';

/** A MariaDB for tests that keep to a database of their own each. */
export interface TestMariadb {
  readonly port: number;
}

let ofProcess: Promise<TestMariadb> | undefined;

/** One for all files of a process, which ends with it. To be called in `beforeAll`, as the first call starts it. */
export function mariadbForTests(): Promise<TestMariadb> {
  return (ofProcess ??= startMariadb());
}

/** Its log goes to the standard error, which a server process has to say that it is ready on the other one. */
const LOGGED = 'exec "$0" "$@" 2>&1';

async function startMariadb(): Promise<TestMariadb> {
  const program = await ensureProgram('mariadbd', { package: 'mariadb-server-core', service: 'mariadb' });
  const port = await freePort();
  await serverProcess({
    command: '/bin/sh',
    args: ['-c', LOGGED, program.command, ...argumentsOf(port)],
    cwd: serverFolder('test-mariadb-'),
    env: program.env,
    ready: /ready for connections/,
    failed: /\[ERROR\] Aborting/,
  });
  return { port };
}

/** In an empty folder, without users and what they may do: it needs no installation then. Nothing in it is to be kept. */
function argumentsOf(port: number): string[] {
  const settings = {
    ...{
      datadir: '.',
      socket: 'socket',
      port,
      'bind-address': '127.0.0.1',
      user: process.getuid?.() === 0 ? 'root' : '',
    },
    ...{ 'innodb-flush-log-at-trx-commit': 0, 'innodb-log-file-size': '8M', 'innodb-buffer-pool-size': '16M' },
  };
  const given = Object.entries(settings).filter(([, value]) => value !== '');
  return ['--no-defaults', '--skip-grant-tables', ...given.map(([name, value]) => `--${name}=${value}`)];
}
