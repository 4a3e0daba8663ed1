import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clone } from './clone.js';

const COMPILE =
  'mkdir -p apps/demo/dist; for f in apps/demo/src/*.ts; do cp $f apps/demo/dist/$(basename $f .ts).js; done';

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
  clone.compiler('nest', COMPILE);
});
afterEach(() => clone.discard());

const build = (options = '') => clone.call('build', `ensureBuilt(${options})`).ended;

describe('ensureBuilt', () => {
  it('builds a fresh clone, and nothing the second time', async () => {
    expect((await build()).err).toBe('Building the workspaces ...\n');
    expect(await build()).toEqual({ code: 0, out: '', err: '' });
    expect(clone.calls('nest')).toBe(1);
  });

  it.each(['apps/demo/src/main.ts', 'apps/demo/src/new.ts', 'apps/demo/src/new.lua', 'apps/demo/tsconfig.json'])(
    'builds again after a change of %s',
    async (file) => {
      await build();
      clone.write(file, 'export const changed = true;');
      await build();
      expect(clone.calls('nest')).toBe(2);
    },
  );

  it('generates the types of the client before it compiles, and again after a change of the document', async () => {
    const types = 'libs/client/src/api-types.ts';
    clone.compiler('openapi-typescript', `mkdir -p libs/client/src; cp docs/openapi.json ${types}`);
    clone.compiler('nest', `test -f ${types} && ${COMPILE}`);
    for (const document of ['{}', '{"openapi":"3.1.0"}']) {
      clone.write('docs/openapi.json', document);
      expect((await build()).err).toMatch(/^Building the client types/);
      expect(clone.has(types)).toBe(true);
    }
    expect(await build()).toEqual({ code: 0, out: '', err: '' });
    expect(clone.calls('openapi-typescript')).toBe(2);
  });

  it('does not build for a spec', async () => {
    await build();
    clone.write('apps/demo/src/main.spec.ts', 'export {};');
    await build();
    expect(clone.calls('nest')).toBe(1);
  });

  it('builds again when what was built is gone', async () => {
    await build();
    clone.remove('apps/demo/dist/main.js');
    await build();
    expect(clone.has('apps/demo/dist/main.js')).toBe(true);
  });

  it('does not take a build for done that left something out', async () => {
    clone.compiler('nest', 'mkdir -p apps/demo/dist');
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
    clone.compiler('nest', 'echo "error TS2322" >&2; exit 1');
    clone.write('apps/demo/src/main.ts', 'const wrong: string = 1;');
    const { code, err } = await build();
    expect(code).toBe(1);
    expect(err).toContain('error TS2322');
    expect(err).toContain('The build failed: "nest build --all" has printed why above.');
    await build();
    expect(clone.calls('nest')).toBe(3);
  });

  it('builds the pods of the tests when asked, and again when they or the libs change', async () => {
    clone.compiler('tsc', 'mkdir -p test/dist/pods; touch test/dist/pods/pod.js');
    clone.write('test/pods/pod.ts', 'export {};');
    await build();
    expect(clone.calls('tsc')).toBe(0);
    for (const file of ['test/pods/pod.ts', 'apps/demo/src/main.ts']) {
      await build('{ pods: true }');
      clone.write(file, 'export const changed = true;');
    }
    await build('{ pods: true }');
    await build('{ pods: true }');
    expect(clone.calls('tsc')).toBe(3);
  });

  it('builds the page where there is one, and again when it or its client changes', async () => {
    clone.compiler('vite', 'mkdir -p libs/console/web/dist; touch libs/console/web/dist/index.html');
    await build();
    expect(clone.calls('vite')).toBe(0);
    for (const file of ['libs/console/web/src/main.tsx', 'libs/client/src/index.ts']) {
      clone.write(file, 'export const changed = true;');
      await build();
    }
    await build();
    expect(clone.calls('vite')).toBe(2);
    expect(clone.calls('nest')).toBe(1);
  });
});
