import { readFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, afterEach, beforeEach } from 'vitest';
import { projectFiles } from './project-files.js';
import { exportedNames, overBudget } from '../../scripts/exports.mjs';

describe('package-lock.json', () => {
  interface LockFile {
    readonly packages: Record<
      string,
      {
        dependencies?: Record<string, string>;
        optionalDependencies?: Record<string, string>;
        hasInstallScript?: boolean;
        link?: boolean;
        resolved?: string;
      }
    >;
  }

  const { packages } = JSON.parse(
    readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
  ) as LockFile;

  it('has every optional package of every platform, or "npm ci" refuses it on all of them', () => {
    const known = new Set(Object.keys(packages).map((key) => key.split('node_modules/').at(-1)));
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter((name) => !known.has(name))).toEqual([]);
  });

  it('brings no package along with ours that runs a program of its own when it is installed', () => {
    const reached = new Set<string>();
    const reach = (place: string) => {
      if (reached.has(place)) return;
      reached.add(place);
      for (const name of Object.keys(packages[place]?.dependencies ?? {})) reach(placeOf(name, place));
    };
    const placeOf = (name: string, from: string) => {
      const nested = `${from}/node_modules/${name}`;
      const found = packages[nested] ? nested : `node_modules/${name}`;
      return packages[found]?.link ? (packages[found].resolved ?? found) : found;
    };
    Object.keys(packages)
      .filter((place) => /^(libs\/(?!pod$)|apps\/cli$)/.test(place) && !place.includes('node_modules'))
      .forEach(reach);
    expect(reached.size).toBeGreaterThan(20);
    expect([...reached].filter((place) => packages[place]?.hasInstallScript || place.includes('scarf'))).toEqual([]);
  });

  it('names no host, so that everybody installs from the registry of their own', () => {
    expect(JSON.stringify(packages)).not.toMatch(/"resolved":"https?:/);
  });
});

interface NestCli {
  readonly projects: Record<string, { root: string; compilerOptions: { tsConfigPath: string } }>;
}

interface Solution {
  readonly references: readonly { path: string }[];
}

interface Manifest {
  readonly version: string;
  readonly dependencies?: Record<string, string>;
}

function read(path: string): unknown {
  const [file] = projectFiles(new RegExp(`^${path.replaceAll('.', '\\.')}$`));
  if (!file) throw new Error(`Expected a file ${path}, and there is none.`);
  return JSON.parse(file.text);
}

function service(name: string): string {
  const [file] = projectFiles(/^docker-compose\.yml$/);
  return new RegExp(`^  ${name}:\\n((?:    .*\\n|\\n)+)`, 'm').exec(file?.text ?? '')?.[1] ?? '';
}

describe('the workspaces', () => {
  const folders = projectFiles(/^(libs|apps)\/[^/]+\/package\.json$/).map(({ path }) =>
    path.replace('/package.json', ''),
  );

  describe('a workspace', () => {
    it('stands in nest-cli.json after what it imports, so that "nest build --all" goes through', () => {
      const order = Object.values((read('nest-cli.json') as NestCli).projects).map(({ root }) => root);
      expect(order.toSorted()).toEqual(folders.toSorted());
      for (const folder of folders) {
        const needed = (read(`${folder}/tsconfig.json`) as Solution).references ?? [];
        const roots = needed.map(({ path }) => new URL(path, `file:///${folder}/`).pathname.replace(/^\/|\/$/g, ''));
        for (const root of roots)
          expect(order.indexOf(root), `${root} before ${folder}`).toBeLessThan(order.indexOf(folder));
      }
    });

    it('is compiled with its own tsconfig.json', () => {
      for (const { root, compilerOptions } of Object.values((read('nest-cli.json') as NestCli).projects)) {
        expect(compilerOptions.tsConfigPath).toBe(`${root}/tsconfig.json`);
      }
    });

    it('is known to the editor and the linter by the root tsconfig.json', () => {
      const known = (read('tsconfig.json') as Solution).references.map(({ path }) => path);
      expect(known).toEqual(expect.arrayContaining([...folders, 'test']));
    });

    it('has the version of the whole and wants its siblings in that version', () => {
      const { version } = read('package.json') as Manifest;
      for (const folder of folders) {
        const { version: own, dependencies = {} } = read(`${folder}/package.json`) as Manifest;
        const siblings = Object.entries(dependencies).filter(([name]) => name.startsWith('@fencepost/'));
        expect([own, ...siblings.map(([, wanted]) => wanted)], folder).toEqual([
          version,
          ...siblings.map(() => version),
        ]);
      }
    });
  });

  describe('docker-compose.yml', () => {
    it('runs three schedulers and two workers', () => {
      expect(service('scheduler')).toContain('deploy: { replicas: 3 }');
      expect(service('worker')).toContain('deploy: { replicas: 2 }');
    });

    it('starts each from the one image with a command of its own', () => {
      expect(service('scheduler')).toContain('command: [node, apps/scheduler/bundle/main.js]');
      expect(service('worker')).toContain('command: [node, apps/worker/bundle/main.js]');
    });

    it('gives them a Redis that refuses a write before it forgets one', () => {
      expect(service('redis')).toContain('--maxmemory-policy, noeviction');
      expect(service('redis')).toContain('healthcheck:');
    });
  });
});

describe('the exports of a package', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));

  describe('the entries of the libraries', () => {
    it('export no more names than their budget', () => {
      expect(overBudget(exportedNames(root))).toEqual([]);
    });

    it('of @fencepost/lease stay a small core and focused further entries', () => {
      const budgets = exportedNames(root).filter(({ entry }) => entry.startsWith('@fencepost/lease'));
      expect(budgets.length).toBeGreaterThan(8);
      for (const { entry, budget } of budgets)
        expect(budget).toBeLessThanOrEqual(entry === '@fencepost/lease' ? 25 : 15);
    });
  });

  describe('the count of exported names', () => {
    let repository: string;
    beforeEach(() => {
      repository = mkdtempSync(join(tmpdir(), 'repository-'));
      const exports = { '.': source('./src/index.ts'), './more': source('./src/more.ts') };
      write('libs/planted/package.json', JSON.stringify({ name: '@fencepost/planted', exports }));
      write(
        'libs/planted/src/more.ts',
        "export const a = 1, b = 2;\nexport type { T } from './t.js';\nconst hidden = 1;",
      );
      write('libs/planted/src/t.ts', 'export interface T {}\nexport class Other {}\nexport async function run() {}');
      write('libs/planted/src/index.ts', "export * from './t.js';\nexport * from './more.js';");
    });
    afterEach(() => rmSync(repository, { recursive: true, force: true }));

    const source = (path: string) => ({ '@fencepost/source': path });
    function write(file: string, text: string): void {
      mkdirSync(dirname(join(repository, file)), { recursive: true });
      writeFileSync(join(repository, file), text);
    }

    it('includes types, follows export * and counts a name once', () => {
      const [main, more] = exportedNames(repository);
      expect(main).toEqual({ entry: '@fencepost/planted', names: ['Other', 'T', 'a', 'b', 'run'], budget: 30 });
      expect(more).toEqual({ entry: '@fencepost/planted/more', names: ['T', 'a', 'b'], budget: 15 });
    });

    it('complains about an entry over its budget', () => {
      const names = Array.from({ length: 16 }, (_, at) => `export const n${at} = ${at};`);
      write('libs/planted/src/more.ts', names.join('\n'));
      expect(overBudget(exportedNames(repository))).toEqual([
        '@fencepost/planted/more exports 16 names, its budget is 15.',
      ]);
    });

    it('leaves out a private package', () => {
      write('libs/planted/package.json', JSON.stringify({ name: '@fencepost/planted', private: true, exports: {} }));
      expect(exportedNames(repository)).toEqual([]);
    });
  });
});
