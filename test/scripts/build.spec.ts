import { chmodSync, cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clone } from './clone.js';

const COMPILE =
  'mkdir -p apps/demo/dist; for f in apps/demo/src/*.ts; do cp $f apps/demo/dist/$(basename $f .ts).js; done';

describe('ensureBuilt', () => {
  let clone: Clone;

  beforeEach(() => {
    clone = new Clone();
    clone.compiler('tsc', COMPILE);
  });

  afterEach(() => clone.discard());

  const build = (options = '') => clone.call('build', `ensureBuilt(${options})`).ended;

  it('builds a fresh clone, and nothing the second time', async () => {
    expect((await build()).err).toBe('Building the workspaces ...\n');
    expect(await build()).toEqual({ code: 0, out: '', err: '' });
    expect(clone.calls('tsc')).toBe(1);
  });

  it.each(['apps/demo/src/main.ts', 'apps/demo/src/new.ts', 'apps/demo/src/new.lua', 'apps/demo/tsconfig.json'])(
    'builds again after a change of %s',
    async (file) => {
      await build();
      clone.write(file, 'export const changed = true;');
      await build();
      expect(clone.calls('tsc')).toBe(2);
    },
  );

  it('generates the types of the client before it compiles, and again after a change of the document', async () => {
    const types = 'libs/client/src/api-types.ts';
    clone.compiler('openapi-typescript', `mkdir -p libs/client/src; cp docs/openapi.json ${types}`);
    clone.compiler('tsc', `test -f ${types} && ${COMPILE}`);
    for (const document of ['{}', '{"openapi":"3.1.0"}']) {
      clone.write('docs/openapi.json', document);
      expect((await build()).err).toMatch(/^Building the client types/);
      expect(clone.has(types)).toBe(true);
    }
    expect(await build()).toEqual({ code: 0, out: '', err: '' });
    expect(clone.calls('openapi-typescript')).toBe(2);
  });

  it('puts Lua and SQL into the compiled module that read them', async () => {
    const compileTexts = 'mkdir -p apps/demo/dist/lua; cp apps/demo/src/lua/texts.ts apps/demo/dist/lua/texts.js';
    clone.compiler('tsc', `${COMPILE}; ${compileTexts}`);
    clone.write('apps/demo/src/lua/texts.ts', 'export const TEXTS = readTexts(import.meta.url);');
    for (const text of ['return 1', 'return "22"']) {
      clone.write('apps/demo/src/lua/claim.lua', text);
      await build();
      const code = readFileSync(join(clone.folder, 'apps/demo/dist/lua/texts.js'), 'utf8');
      expect(code).toBe(`export const TEXTS = ${JSON.stringify({ 'claim.lua': text }, null, 2)};\n`);
    }
  });

  it('does not build for a spec', async () => {
    await build();
    clone.write('apps/demo/src/main.spec.ts', 'export {};');
    await build();
    expect(clone.calls('tsc')).toBe(1);
  });

  it('builds again when what was built is gone', async () => {
    await build();
    clone.remove('apps/demo/dist/main.js');
    await build();
    expect(clone.has('apps/demo/dist/main.js')).toBe(true);
  });

  it('does not take a build for done that left something out', async () => {
    clone.compiler('tsc', 'mkdir -p apps/demo/dist');
    expect((await build()).err).toContain('The build left out apps/demo/dist/main.js');
  });

  it('leaves no output of a source that is gone', async () => {
    clone.write('apps/demo/src/old.ts', 'export {};');
    await build();
    clone.remove('apps/demo/src/old.ts');
    await build();
    expect([clone.has('apps/demo/dist/main.js'), clone.has('apps/demo/dist/old.js')]).toEqual([true, false]);
  });

  it('tries again after a build that failed, though nothing has changed since', async () => {
    await build();
    clone.compiler('tsc', 'echo "error TS2322" >&2; exit 1');
    clone.write('apps/demo/src/main.ts', 'const wrong: string = 1;');
    const { code, err } = await build();
    expect(code).toBe(1);
    expect(err).toContain('error TS2322');
    expect(err).toContain('The build failed: "tsc --build --noCheck apps/demo" has printed why above.');
    await build();
    expect(clone.calls('tsc')).toBe(3);
  });

  it('builds the pods of the tests when asked, and again when they or the libs change', async () => {
    const compilePods = 'echo >> pods.calls; mkdir -p test/dist/pods; touch test/dist/pods/pod.js';
    clone.compiler('tsc', `case "$*" in *test/pods*) ${compilePods};; *) ${COMPILE};; esac`);
    clone.write('test/pods/pod.ts', 'export {};');
    await build();
    expect(clone.has('pods.calls')).toBe(false);
    for (const file of ['test/pods/pod.ts', 'apps/demo/src/main.ts']) {
      await build('{ pods: true }');
      clone.write(file, 'export const changed = true;');
    }
    await build('{ pods: true }');
    await build('{ pods: true }');
    expect(readFileSync(join(clone.folder, 'pods.calls'), 'utf8')).toBe('\n\n\n');
  });

  it('builds the page where there is one, and again when it or its client changes', async () => {
    clone.compiler(
      'vite',
      'mkdir -p libs/console/web/dist; touch libs/console/web/dist/index.html libs/console/web/dist/docs.html',
    );
    await build();
    expect(clone.calls('vite')).toBe(0);
    for (const file of ['libs/console/web/src/main.tsx', 'libs/client/src/index.ts']) {
      clone.write(file, 'export const changed = true;');
      await build();
    }
    await build();
    expect(clone.calls('vite')).toBe(2);
    expect(clone.calls('tsc')).toBe(1);
  });
});

const BIN = 'apps/cli/bin/fencepost.mjs';

const MAIN = 'apps/cli/dist/main.js';

const PROGRAM = 'console.log(JSON.stringify(process.argv.slice(2)));';

describe('the program that "fencepost" starts', () => {
  const STUB = fileURLToPath(new URL('../../apps/cli/bin/fencepost.mjs', import.meta.url));

  let clone: Clone;

  beforeEach(() => {
    clone = new Clone();
    cpSync(STUB, join(clone.folder, BIN), { recursive: true });
    clone.remove('apps/demo');
    clone.write('apps/cli/tsconfig.json', '{}');
    clone.write('apps/cli/src/main.ts', 'export {};');
    clone.compiler('tsc', `echo chatter; mkdir -p apps/cli/dist; echo '${PROGRAM}' > ${MAIN}`);
  });

  afterEach(() => clone.discard());

  it('is built first in a clone that was never built, and nothing of that reaches stdout', async () => {
    const { code, out, err } = await clone.start([BIN, 'list', '--json']).ended;
    expect([code, out]).toEqual([0, '["list","--json"]\n']);
    expect(err).toContain('chatter');
  });

  it('is built again when a source has changed, and only then', async () => {
    await clone.start([BIN]).ended;
    await clone.start([BIN]).ended;
    expect(clone.calls('tsc')).toBe(1);
    clone.write('apps/cli/src/main.ts', 'export const more = 1;');
    await clone.start([BIN]).ended;
    expect(clone.calls('tsc')).toBe(2);
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
    expect(clone.calls('tsc')).toBe(0);
  });

  it('ends with 70 and not with the 1 of a finding when it can not be built', async () => {
    clone.compiler('tsc', 'exit 2');
    const { code, out, err } = await clone.start([BIN, 'audit']).ended;
    expect([code, out]).toEqual([70, '']);
    expect(err).toContain('The build failed');
    expect(err).not.toContain('    at ');
  });
});
