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
/** The cron of the example. */
const CRON = 'nightly-report';
/** Of the cron that the guide sets, and how many of its instants are waited for. */
const EVERY_MS = 10_000;
const INSTANTS = 3;
const RUN_PATIENCE_MS = 90_000;
const LOOK_AGAIN_MS = 100;
const MAX_SECONDS = 300;
const MAX_OWN_LINES = 10;

/**
 * From an empty folder to the first fenced cron and its page, by what README and guide show, in the order in which they show it, and
 * nothing else.
 * @param {(line: string) => void} print
 */
export async function journey(print) {
  const work = mkdtempSync(join(tmpdir(), 'fencepost-stranger-'));
  const redis = await startRedis({ log: print, appendOnly: pages().redis.includes('--appendonly yes') });
  const steps = new Steps(print);
  const replicas = [];
  try {
    const env = { ...strangersEnv(), REDIS_URL: redis.url };
    const app = { ...(await built({ work, env, steps })), env, steps, replicas };
    const seen = await firstRuns(app);
    const found = await withPage(app);
    return verdict(steps, { ...seen, ...found, objections: [...seen.objections, ...found.objections] });
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

/** Packs, creates the app, installs, types, compiles and tests. */
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
  await steps.take('build', () => type('npm run build', { cwd, env }));
  await steps.take('test', async () => {
    writeSpec(cwd, 'esm');
    await type('npm test', { cwd, env });
  });
  return { cwd, shown, install };
}

/** Boots the replicas as the guide has them, with JobsModule alone, types each of its commands in turn, and stops. */
async function firstRuns({ cwd, shown, env, steps, replicas }) {
  const own = await booted('boot', { cwd, env, steps, replicas });
  const mails = () => own.flatMap((one) => one.mails);
  const said = {};
  for (const line of shown.commands) {
    const name = line.split(' ')[2];
    said[name] = await steps.take(name, () => type(line, { cwd, env }));
    if (name !== 'set') continue;
    await steps.take('run', () =>
      until(`${INSTANTS} instants have sent a mail`, () => new Set(mails().map(instantOf)).size >= INSTANTS),
    );
  }
  const ended = await steps.take('stop', () => Promise.all(own.map((one) => one.stop())));
  return {
    objections: [
      ...objectionsTo(mails(), EVERY_MS),
      ...objectionsToWords(said),
      ...(await objectionsToStop({ cwd, env, ended, own })),
    ],
    replicas: REPLICAS,
    instants: new Set(mails().map(instantOf)).size,
    why: said.why.split('\n')[0],
    doctor: said.doctor.trim().split('\n').at(-1).trim(),
    ended,
  };
}

/** Adds the page to the app, and looks at it, and at the crons by way of it. */
async function withPage({ cwd, shown, install, env, steps, replicas }) {
  await steps.take('console', () => type(install(shown.console.install), { cwd, env }));
  const { token, line } = JSON.parse(await type(`${shown.console.token} --json`, { cwd, env }));
  await steps.take(
    'edit',
    () => typeConsole(cwd, shown.console.diff),
    (lines) => lines,
  );
  await steps.take('rebuild', () => type('npm run build', { cwd, env }));
  const tokens = { ...env, FENCEPOST_TOKENS: line };
  const own = await booted('reboot', { cwd, env: tokens, steps, replicas });
  const at = `http://127.0.0.1:${own[0].port}/crons`;
  const { readRows } = await import('./page.mjs');
  const rows = await steps.take('page', () => readRows(at, { token, crons: [CRON] }));
  const remote = shown.console.remote.replace('<token>', token).replace('http://localhost:3000/crons', at);
  const listed = await steps.take('list', () => type(remote, { cwd, env }));
  const ended = await steps.take('end', () => Promise.all(own.map((one) => one.stop())));
  return {
    objections: [
      ...(listed.includes(CRON) ? [] : [`"${shown.console.remote}" does not list ${CRON}.`]),
      ...(await objectionsToStop({ cwd, env, ended, own })),
    ],
    rows,
  };
}

/** Starts the replicas, and waits until each has booted. */
async function booted(step, { cwd, env, steps, replicas }) {
  const own = [];
  await steps.take(step, async () => {
    for (let n = 0; n < REPLICAS; n += 1) own.push(new Replica({ cwd, env, port: await freePort() }));
    replicas.push(...own);
    await Promise.all(own.map((one) => one.says('Nest application successfully started')));
  });
  return own;
}

/** A command that ends well may still say something false. */
function objectionsToWords({ why, doctor }) {
  return [
    ...(why.includes('succeeded') ? [] : [`"fencepost why" says: ${why.split('\n')[0]}`]),
    ...(doctor.includes(`Checked ${REPLICAS} pods`)
      ? []
      : [`"fencepost doctor" does not see ${REPLICAS} pods: ${doctor}`]),
  ];
}

/** A pod that drained has left the others, and every instant is accounted for. With its hooks on, Nest ends a process by the signal. */
async function objectionsToStop({ cwd, env, ended, own }) {
  const pods = JSON.parse(await type('npx fencepost pods --json', { cwd, env }));
  await type('npx fencepost audit', { cwd, env });
  return [
    ...ended.filter((how) => how !== 0 && how !== 'SIGTERM').map((how) => `A replica ended with ${how}.`),
    ...(pods.length === 0 ? [] : [`${pods.length} pods have not left.`]),
    ...own.filter(({ said }) => said.includes('shutdown hooks are off')).map(() => 'A replica misses its hooks.'),
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
