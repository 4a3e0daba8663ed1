import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../exclusive.mjs';
import { freePort, startRedis } from '../redis.mjs';
import { newApp, typeExample, writeSpec } from './app.mjs';
import { withTarballs } from './packages.mjs';
import { pages } from './pages.mjs';
import { Replica } from './replica.mjs';
import { strangersEnv, type } from './shell.mjs';

const PACKAGES = { esbuild: 'esbuild', ncc: '@vercel/ncc' };
/** How the guide's lines differ. */
const FORMATS = { esbuild: { esm: '--format=esm', cjs: '--format=cjs' }, ncc: { esm: '', cjs: '' } };

const BINARIES = join(root, '.cache/node');

/**
 * One combination in a folder of its own: installs, compiles the example unchanged, imports it in the test runner, boots a replica, sees
 * a run, and stops.
 * @param {import('./cells.mjs').Cell} cell
 * @param {ReadonlyMap<string, string>} packed
 * @returns {Promise<Record<string, string>>} the versions that it was
 */
export async function tryCell(cell, packed) {
  const work = mkdtempSync(join(tmpdir(), 'fencepost-cell-'));
  const redis = await startRedis();
  try {
    const env = { ...strangersEnv(await nodeFolder(cell.node)), REDIS_URL: redis.url };
    const cwd = await newApp({ cwd: work, env, nest: cell.nest, modules: cell.modules, install: false });
    await type(installLine(cell, packed), { cwd, env });
    typeExample(cwd, pages());
    await type('npm run build', { cwd, env });
    writeSpec(cwd, cell.modules);
    await type(testLine(cell), { cwd, env });
    const program = cell.bundler ? await bundled(cell, { cwd, env }) : { cwd, entry: 'dist/main' };
    await seeRun({ cwd, env, program });
    return await versionsIn({ cwd, env });
  } finally {
    await redis.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

/** The line of the README with the tarballs in it, and with other majors. */
function installLine({ bullmq, ioredis, runner, modules }, packed) {
  const shown = pages()
    .install.replace(/bullmq@\d+/, `bullmq@${bullmq}`)
    .replace(/ioredis@\d+/, `ioredis@${ioredis}`);
  // The template of CommonJS comes with Jest.
  const added = runner === 'vitest' && modules === 'cjs' ? ' vitest@4' : '';
  return withTarballs(shown, packed) + added;
}

/** As the template tests; Nest 11 has no flag for ES modules yet, and a template with Jest none for Vitest. */
function testLine({ runner, modules, nest }) {
  if (runner === 'vitest' && modules === 'cjs') return 'npx vitest run --globals --root src';
  return nest < 12 ? 'NODE_OPTIONS=--experimental-vm-modules npm test' : 'npm test';
}

/** What the guide's line made, in a folder where nothing else is: it runs without `node_modules` and without files of ours. */
async function bundled({ bundler, modules }, { cwd, env }) {
  await type(`npm install --save-dev ${PACKAGES[bundler]}`, { cwd, env });
  const line = pages().bundles.find((one) => one.includes(bundler) && one.includes(FORMATS[bundler][modules])) ?? '';
  await type(line, { cwd, env });
  const alone = join(cwd, '../alone');
  cpSync(join(cwd, 'bundle'), alone, { recursive: true });
  const entry = readdirSync(alone).find((name) => /^(main|index)\.(mjs|cjs|js)$/.test(name)) ?? '';
  return { cwd: alone, entry };
}

async function seeRun({ cwd, env, program }) {
  const replica = new Replica({ ...program, env, port: await freePort() });
  try {
    await replica.says('this pod has started');
    await type(pages().commands.find((line) => line.includes(' set ')) ?? '', { cwd, env });
    await replica.says('"idempotencyKey"');
    const ended = await replica.stop();
    if (ended !== 0 && ended !== 'SIGTERM') throw new Error(`The replica ended with ${ended}:\n${replica.said}`);
  } finally {
    replica.kill();
  }
}

async function versionsIn({ cwd, env }) {
  const of = (name) => JSON.parse(readFileSync(join(cwd, 'node_modules', name, 'package.json'), 'utf8')).version;
  const node = (await type('node --version', { cwd, env })).trim().slice(1);
  return { node, nest: of('@nestjs/core'), bullmq: of('bullmq'), ioredis: of('ioredis') };
}

/** The package `node` of npm has the binary; fetched once. */
async function nodeFolder(major) {
  const folder = join(BINARIES, `${major}`);
  const bin = join(folder, 'node_modules/node/bin');
  if (existsSync(join(bin, 'node'))) return bin;
  mkdirSync(folder, { recursive: true });
  await type(`npm install --prefix . --no-save node@${major}`, { cwd: folder, env: strangersEnv() });
  return bin;
}
