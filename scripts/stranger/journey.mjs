import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort, startRedis } from '../redis.mjs';
import { newApp, typeConsole, typeExample, writeSpec } from './app.mjs';
import { instantOf, objectionsTo } from './mails.mjs';
import { packInto, withTarballs } from './packages.mjs';
import { pages } from './pages.mjs';
import { Replica } from './replica.mjs';
import { strangersEnv, type } from './shell.mjs';
import { Steps } from './steps.mjs';

const NEST = 12;
const REPLICAS = 3;
/** Of the cron that the guide sets, and how many of its instants are waited for. */
const EVERY_MS = 10_000;
const INSTANTS = 3;
const RUN_PATIENCE_MS = 90_000;
const LOOK_AGAIN_MS = 100;
const MAX_SECONDS = 300;
const MAX_OWN_LINES = 10;

/**
 * From an empty folder to the first fenced cron, by what README and guide show and nothing else.
 * @param {(line: string) => void} print
 */
export async function journey(print) {
  const work = mkdtempSync(join(tmpdir(), 'fencepost-stranger-'));
  const redis = await startRedis({ log: print });
  const steps = new Steps(print);
  const replicas = [];
  try {
    const env = { ...strangersEnv(), REDIS_URL: redis.url };
    const app = await built({ work, env, steps });
    const found = await watched({ ...app, env, steps, replicas });
    return verdict(steps, found);
  } catch (error) {
    for (const { said } of replicas) console.error(said);
    console.error(error.message);
    return verdict(steps, { objections: [error.message.split('\n')[0]] });
  } finally {
    for (const replica of replicas) replica.kill();
    await redis.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

/** Packs, creates the app, types, installs, compiles and tests. */
async function built({ work, env, steps }) {
  const shown = pages();
  const packed = await steps.take('pack', () => {
    mkdirSync(join(work, 'packed'));
    return packInto(join(work, 'packed'));
  });
  const install = (line) => withTarballs(line, packed);
  const cwd = await steps.take('create', () => newApp({ cwd: work, env, nest: NEST, modules: 'esm', install: true }));
  await steps.take('install', () => type(install(shown.install), { cwd, env }));
  await steps.take(
    'type',
    () => typeExample(cwd, shown),
    (lines) => lines,
  );
  await steps.take(
    'console',
    async () => {
      await type(install(shown.console.install), { cwd, env });
      return typeConsole(cwd, shown.console.diff);
    },
    (lines) => lines,
  );
  await steps.take('build', () => type('npm run build', { cwd, env }));
  await steps.take('test', async () => {
    writeSpec(cwd, 'esm');
    await type('npm test', { cwd, env });
  });
  return { cwd, shown };
}

/** Boots the replicas, waits for runs, looks at them, and stops. */
async function watched({ cwd, shown, env, steps, replicas }) {
  const { token, line } = JSON.parse(await type(`${shown.console.token} --json`, { cwd, env }));
  const command = (name) => shown.commands.find((one) => one.startsWith(`npx fencepost ${name} `)) ?? name;
  await steps.take('boot', async () => {
    const tokens = { ...env, FENCEPOST_TOKENS: line };
    for (let n = 0; n < REPLICAS; n += 1) replicas.push(new Replica({ cwd, env: tokens, port: await freePort() }));
    await Promise.all(replicas.map((one) => one.says('Nest application successfully started')));
  });
  const mails = () => replicas.flatMap((one) => one.mails);
  await steps.take('run', async () => {
    await type(command('set'), { cwd, env });
    await until(`${INSTANTS} instants have sent a mail`, () => new Set(mails().map(instantOf)).size >= INSTANTS);
  });
  const cron = command('set').split(' ')[3];
  const at = `http://127.0.0.1:${replicas[0].port}/crons`;
  const { readRows } = await import('./page.mjs');
  const rows = await steps.take('page', () => readRows(at, { token, crons: ['nightly-report', cron] }));
  const remote = shown.console.remote.replace('<token>', token).replace('http://localhost:3000/crons', at);
  const listed = await steps.take('list', () => type(remote, { cwd, env }));
  const why = await steps.take('why', () => type(command('why'), { cwd, env }));
  const ended = await steps.take('stop', () => Promise.all(replicas.map((one) => one.stop())));
  await type(command('remove'), { cwd, env });
  const objections = [
    ...objectionsTo(mails(), EVERY_MS),
    ...(await objectionsToStop({ cwd, env, ended, replicas })),
    ...(listed.includes(cron) ? [] : [`"${shown.console.remote}" does not list ${cron}.`]),
    ...(why.includes('succeeded') ? [] : [`"${command('why')}" says: ${why.split('\n')[0]}`]),
  ];
  return {
    objections,
    replicas: REPLICAS,
    instants: new Set(mails().map(instantOf)).size,
    rows,
    why: why.split('\n')[0],
    ended,
  };
}

/** A pod that drained has left the others, and every instant is accounted for. With its hooks on, Nest ends a process by the signal. */
async function objectionsToStop({ cwd, env, ended, replicas }) {
  const pods = JSON.parse(await type('npx fencepost pods --json', { cwd, env }));
  await type('npx fencepost audit', { cwd, env });
  return [
    ...ended.filter((how) => how !== 0 && how !== 'SIGTERM').map((how) => `A replica ended with ${how}.`),
    ...(pods.length === 0 ? [] : [`${pods.length} pods have not left.`]),
    ...replicas.filter(({ said }) => said.includes('shutdown hooks are off')).map(() => 'A replica misses its hooks.'),
  ];
}

function verdict(steps, { objections, ...found }) {
  const { seconds, lines } = steps.total();
  const over = [
    ...(seconds > MAX_SECONDS ? [`It took ${seconds} s, more than ${MAX_SECONDS}.`] : []),
    ...(lines.own > MAX_OWN_LINES ? [`A stranger writes ${lines.own} lines, more than ${MAX_OWN_LINES}.`] : []),
  ];
  const all = [...objections, ...over];
  return { ok: all.length === 0, seconds, lines, steps: steps.taken, ...found, objections: all };
}

async function until(what, look) {
  for (const since = performance.now(); performance.now() - since < RUN_PATIENCE_MS; await wait(LOOK_AGAIN_MS)) {
    if (look()) return;
  }
  throw new Error(`Waited ${RUN_PATIENCE_MS / 1_000} s in vain until ${what}.`);
}
