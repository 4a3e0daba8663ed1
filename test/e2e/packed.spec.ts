import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { freshPrefix, testRedis } from '../support/redis.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const NPM = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** An empty project into which these packages of ours are installed as they would be published, and others from the registry. */
function useProjectWith(folders: readonly string[], others: readonly string[] = []): { readonly folder: string } {
  const project = { folder: '' };
  beforeAll(async () => {
    await ensureBuilt();
    const cwd = mkdtempSync(join(tmpdir(), 'packed-'));
    project.folder = cwd;
    for (const folder of folders) {
      await run('npm', ['pack', '--pack-destination', cwd, '--loglevel=error'], { cwd: join(root, folder) });
    }
    const tarballs = readdirSync(cwd).map((file) => `./${file}`);
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'reader', private: true, type: 'module' }));
    await run('npm', ['install', ...NPM, ...tarballs, ...others], { cwd });
  }, 180_000);
  afterAll(() => rmSync(project.folder, { recursive: true, force: true }));
  return project;
}

async function installedIn({ folder }: { readonly folder: string }): Promise<string> {
  return (await run('npm', ['ls', '--all', '--parseable'], { cwd: folder })).stdout;
}

describe('the packed library of leases, installed into an empty project', () => {
  // As the README says: the library and ioredis, nothing of Nest.
  const project = useProjectWith(['libs/lease'], ['ioredis@^6']);

  /** Runs the first program of the README, as a reader would copy it. */
  function runExample(redis: string) {
    const readme = readFileSync(join(root, 'libs/lease/README.md'), 'utf8');
    const example = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? 'throw new Error("no example")';
    writeFileSync(join(project.folder, 'example.js'), example);
    return run(process.execPath, ['example.js'], { cwd: project.folder, env: { ...process.env, REDIS_URL: redis } });
  }

  it('brings nothing of Nest, of PostgreSQL or of Prometheus along', async () => {
    const installed = await installedIn(project);
    expect(installed).toContain('/node_modules/ioredis');
    expect(installed).not.toMatch(/@nestjs|rxjs|reflect-metadata|\/pg|prom-client|vitest/);
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
  const project = useProjectWith([
    ...['libs/schedule', 'libs/lease', 'libs/ledger', 'libs/jobs', 'libs/operations'],
    'apps/cli',
  ]);

  /** What the command says, and how it ended. */
  async function fencepost(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const ended = run(join(project.folder, 'node_modules/.bin/fencepost'), args, { cwd: project.folder });
    return ended.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  }

  it('brings no test runner and no page along', async () => {
    const installed = await installedIn(project);
    expect(installed).toContain('/node_modules/fencepost');
    expect(installed).not.toMatch(/vitest|fast-check|swagger|bull-board/);
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
});
