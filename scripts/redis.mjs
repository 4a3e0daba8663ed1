#!/usr/bin/env node
/**
 * Where a Redis comes from on a machine that may have none, for `npm start` and `npm test` alike. Plain Node, because
 * it has to work before anything is installed. `node scripts/redis.mjs` prints the address and runs until Ctrl-C.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { aptDownload, aptInstall, onPath, run, sentence, unpackedEnv } from './debian.mjs';

const SELF = fileURLToPath(import.meta.url);
const UNPACKED = join(SELF, '../../.cache/redis');
/** The scripts are written for 7.0; Ubuntu 22.04 still ships 6.0, which would fail late and with a riddle. */
const OLDEST = 7;
const SETTINGS = ['--save', '', '--maxmemory-policy', 'noeviction'];
const PORT_ATTEMPTS = 5;

const WAYS = [
  { say: 'set REDIS_URL', find: fromAddress },
  { say: `put valkey-server or redis-server ${OLDEST}.0 or newer on PATH`, find: fromPath },
  { say: 'run as root where apt-get can install redis-server', find: fromAptInstall },
  { say: 'let apt-get download redis-server without root', find: fromAptDownload },
  { say: 'start a Docker engine for "docker compose up -d --wait redis"', find: fromDocker },
];

/**
 * @param {{ log?: (line: string) => void }} [options] `log` hears about the steps that take seconds
 * @returns {Promise<{ url?: string, command?: string, env?: NodeJS.ProcessEnv, project?: string, how: string }>}
 *   the `url` of a server that runs, or the `command` that starts one; `how` says in words which way won
 * @throws {Error} when no way leads to a server; its one sentence names all ways and why each failed
 */
export async function findRedisServer({ log = () => {} } = {}) {
  const tried = [];
  for (const { say, find } of WAYS) {
    const found = await find(log);
    if (found.how) return found;
    tried.push(`${say} (${sentence(found.because)})`);
  }
  throw new Error(`There is no Redis to work with: ${tried.join(', or ')}.`);
}

function fromAddress() {
  return process.env.REDIS_URL ? { url: process.env.REDIS_URL, how: 'REDIS_URL' } : { because: 'it is not set' };
}

async function fromPath() {
  const commands = ['valkey-server', 'redis-server'].map((name) => onPath(name)).filter(Boolean);
  // What was unpacked earlier counts as being there, so that the second start is as quick as with a server on PATH.
  const cached = unpackedServer(UNPACKED, 'in .cache/redis, from apt-get without root');
  const found = await Promise.all([...commands.map((command) => usable(command)), cached]);
  return found.find(({ how }) => how) ?? (commands.length ? found[0] : { because: 'neither is there' });
}

async function fromAptInstall(log) {
  const outcome = await aptInstall('redis-server', { service: 'redis-server', log });
  if (!outcome.ok) return outcome;
  const found = await fromPath();
  return found.how ? { ...found, how: `${found.how}, just installed with apt-get` } : found;
}

function fromAptDownload(log) {
  return aptDownload(['redis-server', 'redis-tools'], { folder: UNPACKED, check: unpackedServer, log });
}

async function unpackedServer(folder, where = 'just downloaded with apt-get without root') {
  const command = join(folder, 'usr/bin/redis-server');
  if (!fs.existsSync(command)) return { because: 'the package holds no redis-server' };
  return usable(command, { where, env: unpackedEnv(folder) });
}

async function usable(command, { where = `on PATH (${command})`, env = process.env } = {}) {
  const { ok, out, because } = await run(command, ['--version'], { env });
  const version = /v=(\d+(?:\.\d+)*)/.exec(out)?.[1] ?? '0';
  if (!ok) return { because: `${command} does not run: ${because}` };
  if (parseInt(version, 10) < OLDEST) return { because: `${command} is version ${version}` };
  return { command, env, how: `${command.split('/').at(-1)} ${version} ${where}` };
}

async function fromDocker(log) {
  if (!onPath('docker')) return { because: 'there is no docker command' };
  const engine = await run('docker', ['info'], { timeout: 5_000 });
  if (!engine.ok) return engine;
  log('Starting the redis service of docker-compose.yml ...');
  // A project and a port of its own, so that neither a cluster that is up already nor port 6379 is touched.
  const project = `fencepost-redis-${process.pid}`;
  const up = await compose(project, ['up', '-d', '--wait', 'redis']);
  const port = up.ok ? await compose(project, ['port', 'redis', '6379']) : up;
  if (port.ok) return { url: `redis://${port.out.trim()}`, project, how: `docker compose, project ${project}` };
  await compose(project, ['down', '--volumes']);
  return port;
}

function compose(project, args) {
  const where = ['compose', '--project-directory', dirname(dirname(SELF)), '--project-name', project];
  return run('docker', [...where, ...args], { env: { ...process.env, REDIS_PORT: '' } });
}

/**
 * A Redis for the caller: the one of REDIS_URL, which is neither started nor stopped, or else a private one that ends
 * with the caller, however the caller ends.
 * @param {{ log?: (line: string) => void, appendOnly?: boolean }} [options] `appendOnly` writes a file as a server in production
 *   does, which the doctor asks for; without it a private server is quicker
 * @returns {Promise<{ url: string, how: string, pid?: number, stop: () => Promise<void> }>}
 */
export async function startRedis({ log = () => {}, appendOnly = false } = {}) {
  const { how, env, ...found } = await findRedisServer({ log });
  if (found.url && !found.project) return { url: found.url, how, stop: async () => {} };
  // The server belongs to a second process that reads a pipe from us until end-of-file: the kernel closes it also after
  // SIGKILL, which no exit handler sees. Detached, so that Ctrl-C leaves us a Redis to say goodbye to.
  const stdio = ['pipe', 'pipe', 'ignore'];
  const watcher = spawn(process.execPath, [SELF, '--watch', JSON.stringify({ ...found, appendOnly })], {
    detached: true,
    env,
    stdio,
  });
  const ended = once(watcher, 'exit');
  const lines = createInterface({ input: watcher.stdout })[Symbol.asyncIterator]();
  const { failed, url, pid } = JSON.parse((await lines.next()).value ?? '{"failed":"its watcher ended"}');
  for (const handle of [watcher, watcher.stdin, watcher.stdout]) handle.unref();
  const stop = async () => {
    watcher.ref();
    watcher.stdin.end();
    await ended;
  };
  if (url) return { url, how, ...(pid ? { pid } : {}), stop };
  await stop();
  throw new Error(`The private Redis (${how}) did not start: ${failed}.`);
}

/** The second process: starts the server, reports one line, and ends both when its input does. */
async function watch({ command, project, url, appendOnly }) {
  const dir = fs.mkdtempSync(join(tmpdir(), 'fencepost-redis-'));
  const own = { server: undefined, ending: undefined };
  const clear = async () => {
    if (project) await compose(project, ['down', '--volumes']);
    // Nothing in it is to be kept, and a server that a test has frozen would not hear SIGTERM.
    if (own.server?.kill('SIGKILL')) await once(own.server, 'exit');
    fs.rmSync(dir, { recursive: true, force: true });
    process.exit();
  };
  const end = () => void (own.ending ??= clear());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
  process.stdin.resume().on('end', end).on('error', end);
  process.stdout.on('error', end);
  let answer = { url };
  for (let attempt = 0; attempt < PORT_ATTEMPTS && !answer.url && !own.ending; attempt++) {
    const port = await freePort();
    const args = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', dir, ...SETTINGS];
    args.push('--appendonly', appendOnly ? 'yes' : 'no');
    own.server = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    answer = (await untilReady(own.server)) ?? { url: `redis://127.0.0.1:${port}`, pid: own.server.pid };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

/** Below what kernels hand out to outgoing connections: one of those may come between our look and the server's bind. */
const PORTS = { first: 15_000, count: 17_000 };

/** Free a moment ago, so the server may still lose it to somebody: then the next attempt asks again. */
export async function freePort() {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** What went wrong, or nothing. Read from the server's own output: a port that answers may be somebody else's. */
function untilReady(server) {
  return new Promise((resolve) => {
    let said = '';
    const hear = (chunk) => {
      said += chunk;
      if (said.includes('Ready to accept connections')) resolve(undefined);
    };
    server.stdout.on('data', hear);
    server.stderr.on('data', hear);
    server.on('error', (error) => resolve({ failed: error.message }));
    server.on('exit', () => resolve({ failed: said.trim().split('\n').at(-1) || 'it ended without a word' }));
  });
}

const program = process.argv[1] && fs.realpathSync(process.argv[1]);
if (program === SELF && process.argv[2] === '--watch') {
  await watch(JSON.parse(process.argv[3]));
} else if (program === SELF) {
  const { url, how, stop } = await startRedis({ log: console.error });
  console.log(`${url}  (${how}; Ctrl-C ends it)`);
  const staying = setInterval(() => {}, 1 << 30);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stop().then(() => clearInterval(staying)));
}
