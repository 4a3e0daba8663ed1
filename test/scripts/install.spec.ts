import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clone } from './clone.js';

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
});
afterEach(() => clone.discard());

const install = () => clone.call('install', 'ensureInstalled()').ended;

describe('ensureInstalled', () => {
  it('installs into a bare clone, says so on stderr, and leaves stdout alone', async () => {
    expect(await install()).toEqual({ code: 0, out: '', err: expect.stringContaining('node_modules is missing') });
    expect(clone.calls('npm')).toBe(1);
  });

  it('prints two lines and none of the warnings of npm', async () => {
    clone.npm(
      'echo "npm warn EBADENGINE" >&2; mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json',
    );
    const { err } = await install();
    expect(err).toMatch(/^Installing packages .*\nInstalled in \d+ s\.\n$/);
  });

  it('does nothing the second time, whatever the times of the files are', async () => {
    await install();
    clone.lock('1.0.0');
    expect(await install()).toEqual({ code: 0, out: '', err: '' });
    expect(clone.calls('npm')).toBe(1);
  });

  it('installs again when the lock file has another version', async () => {
    await install();
    clone.lock('1.0.1');
    expect((await install()).err).toContain('node_modules/left is not as package-lock.json has it');
    expect(clone.calls('npm')).toBe(2);
  });

  it('installs again after an install that was interrupted', async () => {
    await install();
    clone.remove('node_modules/.package-lock.json');
    await install();
    expect(clone.calls('npm')).toBe(2);
  });

  it('refuses a package.json that the lock file does not know of', async () => {
    clone.write('package.json', JSON.stringify({ dependencies: { right: '^1.0.0' } }));
    const { code, err } = await install();
    expect(code).toBe(1);
    expect(err).toContain('package.json and package-lock.json disagree; run "npm install"');
    expect(clone.calls('npm')).toBe(0);
  });

  it('says in a sentence that npm failed', async () => {
    clone.npm('echo "npm error network" >&2; exit 7');
    const { err } = await install();
    expect(err).toContain('npm error network');
    expect(err).toContain('"npm ci" failed (exit code 7); its own words are above');
  });

  it('lets the second of two commands wait, and then find everything done', async () => {
    clone.npm(
      'while [ ! -f go ]; do :; done; mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json',
    );
    const first = clone.call('install', 'ensureInstalled()');
    await once(first.process.stderr!, 'data');
    const second = clone.call('install', 'ensureInstalled()');
    const [said] = await once(second.process.stderr!, 'data');
    expect(String(said)).toContain(`Waiting for process ${first.process.pid}`);
    clone.write('go', '');
    expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
    expect(clone.calls('npm')).toBe(1);
  });

  it('does not wait for a process that died', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    clone.write('.cache/install.busy/pid', `${dead}`);
    expect((await install()).code).toBe(0);
    expect(clone.has('.cache/install.busy')).toBe(false);
  });
});
