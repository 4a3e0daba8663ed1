import { chmodSync, cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clone } from './clone.js';

const STUB = fileURLToPath(new URL('../../apps/cli/bin/fencepost.mjs', import.meta.url));
const BIN = 'apps/cli/bin/fencepost.mjs';
const MAIN = 'apps/cli/dist/main.js';
const PROGRAM = 'console.log(JSON.stringify(process.argv.slice(2)));';

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
  cpSync(STUB, join(clone.folder, BIN), { recursive: true });
  clone.write('nest-cli.json', JSON.stringify({ projects: { cli: { root: 'apps/cli', sourceRoot: 'apps/cli/src' } } }));
  clone.write('apps/cli/src/main.ts', 'export {};');
  clone.compiler('nest', `echo chatter; mkdir -p apps/cli/dist; echo '${PROGRAM}' > ${MAIN}`);
});
afterEach(() => clone.discard());

describe('the program that "fencepost" starts', () => {
  it('is built first in a clone that was never built, and nothing of that reaches stdout', async () => {
    const { code, out, err } = await clone.start([BIN, 'list', '--json']).ended;
    expect([code, out]).toEqual([0, '["list","--json"]\n']);
    expect(err).toContain('chatter');
  });

  it('is built again when a source has changed, and only then', async () => {
    await clone.start([BIN]).ended;
    await clone.start([BIN]).ended;
    expect(clone.calls('nest')).toBe(1);
    clone.write('apps/cli/src/main.ts', 'export const more = 1;');
    await clone.start([BIN]).ended;
    expect(clone.calls('nest')).toBe(2);
  });

  it('is found through a link in another folder, as npm makes one', async () => {
    symlinkSync(join(clone.folder, BIN), join(clone.folder, 'linked.mjs'));
    chmodSync(join(clone.folder, BIN), 0o755);
    expect((await clone.start(['linked.mjs', 'next']).ended).out).toBe('["next"]\n');
  });

  it('runs as it is where there is nothing to build it with', async () => {
    clone.remove('scripts');
    clone.write(MAIN, PROGRAM);
    const { code, out, err } = await clone.start([BIN, 'audit']).ended;
    expect({ code, out, err }).toEqual({ code: 0, out: '["audit"]\n', err: '' });
    expect(clone.calls('nest')).toBe(0);
  });

  it('ends with 70 and not with the 1 of a finding when it can not be built', async () => {
    clone.compiler('nest', 'exit 2');
    const { code, out, err } = await clone.start([BIN, 'audit']).ended;
    expect([code, out]).toEqual([70, '']);
    expect(err).toContain('The build failed');
    expect(err).not.toContain('    at ');
  });
});
