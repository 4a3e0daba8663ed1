import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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
const PACKAGES = ['libs/schedule', 'libs/lease', 'libs/ledger', 'libs/jobs', 'libs/operations', 'apps/cli'];

let project: string;

/** What the command says, and how it ended. */
async function fencepost(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const ended = run(join(project, 'node_modules/.bin/fencepost'), args, { cwd: project });
  return ended.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

beforeAll(async () => {
  await ensureBuilt();
  project = mkdtempSync(join(tmpdir(), 'packed-command-line-'));
  for (const folder of PACKAGES) {
    await run('npm', ['pack', '--pack-destination', project, '--loglevel=error'], { cwd: join(root, folder) });
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'reader', private: true, type: 'module' }));
  const tarballs = readdirSync(project).filter((file) => file.endsWith('.tgz'));
  await run('npm', ['install', ...NPM, '--save-dev', ...tarballs.map((file) => `./${file}`)], { cwd: project });
}, 180_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the packed command line, installed into an empty project', () => {
  it('answers without a store, and brings no test runner along', async () => {
    const { code, stdout } = await fencepost('next', '0 3 * * *', '--tz', 'Europe/Berlin', '--json');
    expect({ code, answer: JSON.parse(stdout) as unknown }).toMatchObject({ code: 0, answer: expect.anything() });
    const { stdout: installed } = await run('npm', ['ls', '--all', '--parseable'], { cwd: project });
    expect(installed).not.toMatch(/vitest|fast-check|swagger|bull-board/);
  });

  it('reads from a store', async () => {
    const { code, stdout } = await fencepost('list', '--redis', testRedis(), '--prefix', freshPrefix(), '--json');
    expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({ code: 0, answer: expect.anything() });
  });

  it('says what to install for the one command that needs more', async () => {
    const { code, stderr } = await fencepost('torture', '--app', './jobs.js');
    expect(code).not.toBe(0);
    expect(stderr).toContain('Run: npm i -D @fencepost/testing');
  });

  it('runs no build script of the project it is installed in', async () => {
    mkdirSync(join(project, 'scripts'));
    writeFileSync(join(project, 'scripts/build.mjs'), 'throw new Error("a script of the user");');
    expect(await fencepost('--help')).toMatchObject({ code: 0, stderr: '' });
  });
});
