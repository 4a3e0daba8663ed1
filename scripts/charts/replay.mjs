import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, matchesGlob } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../redis.mjs';

/** The user "node" of the image is not root; on another machine, nobody is not root either. */
const NOBODY = 65_534;
const START_MS = 60_000;
const STOP_MS = 15_000;

/**
 * Carries out a Dockerfile without Docker: each stage is a folder, and each RUN a shell in it. Base images are not looked at.
 * @param {{ dockerfile: string, context: string, into: string, log?: (line: string) => void }} build
 * @returns {{ folder: string, env: Record<string, string>, user: string, command: string[] }} what `docker run` would start
 */
export function replay({ dockerfile, context, into, log = () => {} }) {
  const stages = new Map();
  let stage = { folder: '', workdir: '/', env: {}, user: 'root', command: [] };
  const handlers = {
    FROM: (rest) => {
      const name = / AS (\S+)$/i.exec(rest)?.[1] ?? 'final';
      stage = { folder: join(into, name), workdir: '/', env: {}, user: 'root', command: [] };
      mkdirSync(stage.folder, { recursive: true });
      stages.set(name, stage);
    },
    WORKDIR: (rest) => {
      stage.workdir = rest;
      mkdirSync(join(stage.folder, rest), { recursive: true });
    },
    ENV: (rest) => Object.assign(stage.env, Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('=')))),
    COPY: (rest) => copy(rest, { stage, stages, context }),
    RUN: (rest) => run(rest, stage),
    USER: (rest) => (stage.user = rest),
    CMD: (rest) => (stage.command = JSON.parse(rest)),
    EXPOSE: () => {},
    HEALTHCHECK: () => {},
  };
  for (const [instruction, rest] of instructionsOf(readFileSync(dockerfile, 'utf8'))) {
    if (!handlers[instruction]) throw new Error(`There is no replay of ${instruction}.`);
    log(`${instruction} ${rest}`);
    handlers[instruction](rest);
  }
  return { folder: join(stage.folder, stage.workdir), env: stage.env, user: stage.user, command: stage.command };
}

function instructionsOf(text) {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  const filled = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  return filled.map((line) => [line.split(' ')[0], line.slice(line.indexOf(' ') + 1)]);
}

function copy(rest, { stage, stages, context }) {
  const [, from, paths] = /^(?:--from=(\S+) )?(.*)$/.exec(rest) ?? [];
  const [source = '', target = ''] = (paths ?? '').split(' ');
  const to = join(stage.folder, stage.workdir, target);
  if (from !== undefined) {
    const path = join(stages.get(from).folder, source);
    const into = statSync(path).isFile() ? join(to, basename(source)) : to;
    return cpSync(path, into, { recursive: true, verbatimSymlinks: true });
  }
  for (const file of contextOf(context)) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    cpSync(join(context, file), join(to, file));
  }
}

/** What Docker would be sent: what git has or would take, less what .dockerignore names. */
function contextOf(context) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', args, { cwd: context, encoding: 'utf8', maxBuffer: 1 << 26 }).split('\0');
  const ignored = ignoring(readFileSync(join(context, '.dockerignore'), 'utf8'));
  return files.filter((file) => file !== '' && !ignored(file) && existsSync(join(context, file)));
}

/** The last rule that matches a file, or a folder above it, decides. */
export function ignoring(text) {
  const rules = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return (file) => {
    const parts = file.split('/');
    const paths = parts.map((_, n) => parts.slice(0, n + 1).join('/'));
    const deciding = rules.findLast((rule) => paths.some((path) => matchesGlob(path, rule.replace(/^!/, ''))));
    return deciding !== undefined && !deciding.startsWith('!');
  };
}

/** A cache that Docker would mount is this machine's own. */
function run(rest, { folder, workdir, env }) {
  const command = rest.replaceAll(/--mount=\S+ /g, '').replaceAll(/ --cache \S+/g, '');
  const cwd = join(folder, workdir);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    ...{ cwd, encoding: 'utf8', maxBuffer: 1 << 26 },
    env: { ...process.env, ...env, NODE_OPTIONS: '' },
  });
  if (status !== 0) throw new Error(`RUN ${rest} failed with ${status}:\n${`${stdout}${stderr}`.slice(-4_000)}`);
}

/**
 * Starts what was replayed as a user that can write nothing of it, and asks the paths.
 * @param {ReturnType<typeof replay>} image
 * @param {{ env: Record<string, string>, asked: { path: string, token?: string }[] }} options
 * @returns {Promise<Record<string, number>>} the status of each answer, and the exit code after SIGTERM as "exit"
 */
export async function tryImage(image, { env, asked }) {
  if (image.user === 'root') throw new Error('The image runs as root.');
  const port = String(await freePort());
  const [program = '', ...args] = image.command;
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: image.folder,
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...image.env, ...env, HOST: '127.0.0.1', PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const ended = once(child, 'exit');
  try {
    await listening(`http://127.0.0.1:${port}/health/live`, () => child.exitCode === null);
    const statuses = await Promise.all(
      asked.map(({ path, token }) => statusOf(`http://127.0.0.1:${port}${path}`, token)),
    );
    child.kill('SIGTERM');
    const [code, signal] = await Promise.race([ended, wait(STOP_MS, [-1])]);
    // Nest sends itself the signal again once its hooks have run.
    const exit = signal === 'SIGTERM' ? 0 : (code ?? -1);
    return { ...Object.fromEntries(asked.map(({ path }, n) => [path, statuses[n] ?? 0])), exit };
  } catch (error) {
    throw new Error(`${error.message} It said: ${said.slice(-2_000)}`, { cause: error });
  } finally {
    child.kill('SIGKILL');
  }
}

async function listening(url, isAlive) {
  const until = performance.now() + START_MS;
  while (performance.now() < until && isAlive()) {
    if (
      await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return;
    await wait(100);
  }
  throw new Error('The image does not start.');
}

async function statusOf(url, token) {
  const { status } = await fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  return status;
}
