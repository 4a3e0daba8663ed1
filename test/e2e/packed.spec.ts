import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newToken } from '@fencepost/operations/access-tokens';
import { ensureBuilt } from '../../scripts/build.mjs';
import { freePort } from '../../scripts/redis.mjs';
import { typeConsole, typeExample } from '../../scripts/stranger/app.mjs';
import { packInto, withTarballs } from '../../scripts/stranger/packages.mjs';
import { pages } from '../../scripts/stranger/pages.mjs';
import { Replica } from '../../scripts/stranger/replica.mjs';
import { strangersEnv } from '../../scripts/stranger/shell.mjs';
import { freshPrefix, privateRedis, testRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const ADMIN = newToken('me', 'admin');
const BEARER = { authorization: `Bearer ${ADMIN.secret}` };
const NPM = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** Every package of ours as it would be published. */
let packed: ReadonlyMap<string, string>;
const tarballs = mkdtempSync(join(tmpdir(), 'packed-'));
beforeAll(async () => {
  await ensureBuilt();
  packed = packInto(tarballs);
}, 300_000);
afterAll(() => rmSync(tarballs, { recursive: true, force: true }));

interface Project {
  folder: string;
}

/** Installs these into the project, ours from their tarballs and others from the registry. */
async function install({ folder }: Project, ...names: readonly string[]): Promise<void> {
  await run('npm', ['install', ...NPM, ...withTarballs(names.join(' '), packed).split(' ')], { cwd: folder });
}

/** An empty project into which these are installed. */
function useProjectWith(...names: readonly string[]): Project {
  const project: Project = { folder: '' };
  beforeAll(async () => {
    project.folder = mkdtempSync(join(tmpdir(), 'reader-'));
    const manifest = { name: 'reader', private: true, type: 'module' };
    writeFileSync(join(project.folder, 'package.json'), JSON.stringify(manifest));
    await install(project, ...names);
  }, 180_000);
  afterAll(() => rmSync(project.folder, { recursive: true, force: true }));
  return project;
}

/** What npm has noted beside the packages: asking npm itself takes as long as a pod takes to boot. */
function installedIn({ folder }: Project): string[] {
  const noted = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: object;
  };
  return Object.keys(noted.packages);
}

describe('the packed library of leases, installed into an empty project', () => {
  // As the README says: the library and ioredis, nothing of Nest.
  const project = useProjectWith('@fencepost/lease', 'ioredis@^6');

  /** Runs the first program of the README, as a reader would copy it. */
  function runExample(redis: string) {
    const readme = readFileSync(join(root, 'libs/lease/README.md'), 'utf8');
    const example = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? 'throw new Error("no example")';
    writeFileSync(join(project.folder, 'example.js'), example);
    return run(process.execPath, ['example.js'], { cwd: project.folder, env: { ...process.env, REDIS_URL: redis } });
  }

  it('brings nothing of Nest, of PostgreSQL or of Prometheus along', () => {
    const installed = installedIn(project);
    expect(installed).toContain('node_modules/ioredis');
    expect(installed.join('\n')).not.toMatch(/@nestjs|rxjs|reflect-metadata|\/pg|prom-client|vitest/);
  });

  it('runs the example of its README', async () => {
    const { stdout } = await runExample(testRedis());
    expect(stdout).toMatch(/^invoice 42 is sent under fence \d{16}$/m);
  });

  it('says in one sentence what is wrong with an address', async () => {
    await expect(runExample('localhost')).rejects.toThrow('connectLeases, option "redis": expected a Redis address');
  });
});

describe('the packed command line, installed into an empty project', () => {
  const project = useProjectWith('fencepost');

  /** What the command says, and how it ended. */
  async function fencepost(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const ended = run(join(project.folder, 'node_modules/.bin/fencepost'), args, { cwd: project.folder });
    return ended.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  }

  it('brings no test runner and no page along', () => {
    const installed = installedIn(project);
    expect(installed).toContain('node_modules/fencepost');
    expect(installed.join('\n')).not.toMatch(/vitest|fast-check|swagger|bull-board/);
  });

  it('answers without a store', async () => {
    const { code, stdout } = await fencepost(
      'next',
      '0 3 * * *',
      '--from',
      '2026-01-01T00:00:00Z',
      '-n',
      '1',
      '--json',
    );
    expect(code).toBe(0);
    expect(stdout).toContain('2026-01-01T03:00:00.000Z');
  });

  it('reads from a store', async () => {
    const { code, stdout } = await fencepost('list', '--redis', testRedis(), '--prefix', freshPrefix(), '--json');
    expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({ code: 0, answer: [] });
  });

  it('says what to install for the one command that needs more', async () => {
    const { code, stderr } = await fencepost('torture', '--app', './jobs.js');
    expect(code).not.toBe(0);
    expect(stderr).toContain('Run: npm i -D @fencepost/testing');
  });

  it('runs no build script of the project it is installed in', async () => {
    mkdirSync(join(project.folder, 'scripts'));
    writeFileSync(join(project.folder, 'scripts/build.mjs'), 'throw new Error("a script of the user");');
    expect(await fencepost('--help')).toMatchObject({ code: 0, stderr: '' });
  });

  // In the same project, because most of what it needs is installed there.
  describe("and beside it the README's example, with the console, in CommonJS", () => {
    const bin = join(root, 'node_modules/.bin');
    let redis: PrivateRedis;
    let app: Replica;

    beforeAll(async () => {
      const cwd = project.folder;
      redis = await privateRedis({ 'maxmemory-policy': 'noeviction' });
      const made = ['@nestjs/schematics:application', '--name=app', '--type=cjs'];
      await Promise.all([
        install(project, '@fencepost/console', '@nestjs/platform-express@^12', '@types/node@^24'),
        run(join(bin, 'schematics'), made, { cwd }),
      ]);
      const folder = join(cwd, 'app');
      typeExample(folder, pages());
      typeConsole(folder, pages().console.diff);
      await run(join(bin, 'tsc'), ['-p', 'tsconfig.build.json', '--types', 'node'], { cwd: folder });
      const env = { ...strangersEnv(), REDIS_URL: redis.url, FENCEPOST_TOKENS: ADMIN.line };
      app = new Replica({ cwd: folder, env, port: await freePort() });
      await app.says('Nest application successfully started');
    }, 180_000);

    afterAll(async () => {
      app.kill();
      await redis.stop();
    });

    const ask = (path: string) => fetch(`http://127.0.0.1:${app.port}/crons/${path}`, { headers: BEARER });

    it('answers with its page, and lists the cron', async () => {
      // Nest says that it has started before it listens.
      const page = await until('the app listens', () => ask('').catch(() => null));
      expect(page.status).toBe(200);
      const listed = async () => (await (await ask('api/crons')).text()).includes('nightly-report');
      await until('the API lists the cron', listed);
    });

    it('says in one sentence what to install for the board', async () => {
      expect(app.said).toContain('The console has no Bull Board');
      expect(await (await ask('queues/')).text()).toContain('npm i @bull-board/api @bull-board/express');
    });

    it('runs once for each instant, and drains on SIGTERM', async () => {
      await fencepost('set', 'try-it', '--every', '1s', '--handler', 'nightly-report', '--redis', redis.url);
      await app.says('"idempotencyKey":"try-it@');
      expect(['SIGTERM', 0]).toContain(await app.stop());
      expect(app.said).not.toContain('shutdown hooks are off');
      const { code, stdout } = await fencepost('pods', '--redis', redis.url, '--json');
      expect({ code, pods: JSON.parse(stdout) as unknown }).toEqual({ code: 0, pods: [] });
    });
  });
});
