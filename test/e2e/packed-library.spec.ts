import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { testRedis } from '../support/redis.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const NPM = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

let project: string;

/** The first program of the README, as a reader would copy it. */
function example(): string {
  const readme = readFileSync(join(root, 'libs/lease/README.md'), 'utf8');
  return /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? 'throw new Error("no example")';
}

beforeAll(async () => {
  await ensureBuilt();
  project = mkdtempSync(join(tmpdir(), 'packed-lease-'));
  await run('npm', ['pack', '--pack-destination', project, '--loglevel=error'], { cwd: join(root, 'libs/lease') });
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'reader', private: true, type: 'module' }));
  // As the README says: the library and ioredis, nothing of Nest.
  await run('npm', ['install', ...NPM, './fencepost-lease-0.1.0.tgz', 'ioredis@^6'], { cwd: project });
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the packed library, installed into an empty project', () => {
  it('brings nothing of Nest, of PostgreSQL or of Prometheus along', async () => {
    const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: project });
    expect(stdout).toContain('/node_modules/ioredis');
    expect(stdout).not.toMatch(/@nestjs|rxjs|reflect-metadata|\/pg|prom-client|vitest/);
  });

  it('runs the example of its README', async () => {
    writeFileSync(join(project, 'example.js'), example());
    const env = { ...process.env, REDIS_URL: testRedis() };
    const { stdout } = await run(process.execPath, ['example.js'], { cwd: project, env });
    expect(stdout).toMatch(/^invoice 42 is sent under fence \d{16}$/m);
  });

  it('says in one sentence what is wrong with an address', async () => {
    writeFileSync(join(project, 'example.js'), example());
    const env = { ...process.env, REDIS_URL: 'localhost' };
    const failed = run(process.execPath, ['example.js'], { cwd: project, env });
    await expect(failed).rejects.toThrow('connectLeases, option "redis": expected a Redis address');
  });
});
