import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isLong } from '../support/run-length.js';
import { Clone } from './clone.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NEST = join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');

const LIB = {
  'libs/one/package.json': JSON.stringify({ name: '@mini/one', exports: './dist/index.js' }),
  'libs/one/tsconfig.json': JSON.stringify({ compilerOptions: { composite: true, rootDir: 'src', outDir: 'dist' } }),
  'libs/one/src/index.ts': 'export const one = 1;',
};

const APP = {
  'apps/demo/src/main.ts': `import { one } from '@mini/one';\nconsole.log(one + 1);`,
  'apps/demo/tsconfig.json': JSON.stringify({
    compilerOptions: {
      composite: true,
      module: 'nodenext',
      rootDir: 'src',
      outDir: 'dist',
      types: [],
      skipLibCheck: true,
    },
    references: [{ path: '../../libs/one' }],
    include: ['src'],
  }),
};

/** In the place of scripts/build.mjs. */
const BUILD = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('build.calls', 'built\\n');
mkdirSync('libs/one/dist', { recursive: true });
writeFileSync('libs/one/dist/index.js', 'exports.one = 1;');
writeFileSync('libs/one/dist/index.d.ts', 'export declare const one: number;');`;

describe('the Nest CLI in a clone that was never built', () => {
  let clone: Clone;

  beforeEach(() => {
    clone = new Clone();
    const config = JSON.parse(readFileSync(join(ROOT, 'nest-cli.json'), 'utf8')) as { projects: { demo: object } };
    clone.write('nest-cli.json', JSON.stringify({ ...config, projects: { demo: config.projects.demo } }));
    for (const [file, content] of Object.entries({ ...LIB, ...APP })) clone.write(file, content);
    clone.write('scripts/build.mjs', BUILD);
    mkdirSync(join(clone.folder, 'node_modules/@mini'), { recursive: true });
    symlinkSync(join(clone.folder, 'libs/one'), join(clone.folder, 'node_modules/@mini/one'));
    symlinkSync(join(ROOT, 'node_modules/typescript'), join(clone.folder, 'node_modules/typescript'));
  });

  afterEach(() => clone.discard());

  it('builds the libraries before it starts a project, and only then', async () => {
    const { code, out } = await clone.start([NEST, 'start', 'demo']).ended;
    expect([code, out]).toEqual([0, '2\n']);
    expect(await clone.start([NEST, 'build', 'demo']).ended).toMatchObject({ code: 0, err: '' });
    expect(clone.calls('build')).toBe(1);
  });

  it('ends as the build of the libraries ends, if that fails', async () => {
    clone.write('scripts/build.mjs', `console.error('it can not be built'); process.exit(3);`);
    const { code, err } = await clone.start([NEST, 'build', 'demo']).ended;
    expect([code, err]).toEqual([3, 'it can not be built\n']);
  });

  it('still refuses a project with an error of its own', async () => {
    clone.write('apps/demo/src/main.ts', `import { two } from '@mini/one';\nconsole.log(two);`);
    const { code, err } = await clone.start([NEST, 'build', 'demo']).ended;
    expect(code).toBe(1);
    expect(err).toContain(`has no exported member 'two'`);
  });
});

/** What git knows, and the installed packages: nothing that was built. */
function copyOfRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fresh-'));
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', listed, { cwd: ROOT, encoding: 'utf8' });
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file));
  }
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const [from, to] = [join(ROOT, 'node_modules', name), join(folder, 'node_modules', name)];
    // Its links lead to the libraries beside it.
    if (name === '@fencepost') cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(from, to);
  }
  return folder;
}

describe.runIf(isLong)('"nest build" in this repository, never built', () => {
  it('builds the scheduler and the worker', () => {
    const folder = copyOfRepository();
    try {
      for (const project of ['scheduler', 'worker']) {
        const { status, stdout } = spawnSync(process.execPath, [NEST, 'build', project], {
          cwd: folder,
          encoding: 'utf8',
        });
        expect([status, stdout.includes('error')], stdout).toEqual([0, false]);
        const outputs = readdirSync(join(folder, 'apps', project, 'dist'));
        expect(outputs).toContain('main.js');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 300_000);
});
