import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';

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

const folders = projectFiles(/^(libs|apps)\/[^/]+\/package\.json$/).map(({ path }) =>
  path.replace('/package.json', ''),
);

describe('a workspace', () => {
  it('is built by "nest build --all", after what it imports', () => {
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
      expect([own, ...siblings.map(([, wanted]) => wanted)], folder).toEqual([version, ...siblings.map(() => version)]);
    }
  });
});

describe('docker-compose.yml', () => {
  it('runs three schedulers and two workers', () => {
    expect(service('scheduler')).toContain('deploy: { replicas: 3 }');
    expect(service('worker')).toContain('deploy: { replicas: 2 }');
  });

  it('starts each from the one image with a command of its own', () => {
    expect(service('scheduler')).toContain('command: [node, apps/scheduler/dist/main.js]');
    expect(service('worker')).toContain('command: [node, apps/worker/dist/main.js]');
  });

  it('gives them a Redis that refuses a write before it forgets one', () => {
    expect(service('redis')).toContain('--maxmemory-policy, noeviction');
    expect(service('redis')).toContain('healthcheck:');
  });
});
