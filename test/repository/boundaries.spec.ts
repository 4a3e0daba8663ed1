import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { complaints, inspectBoundaries } from '../../scripts/boundaries.mjs';

interface Config {
  readonly forbidden: readonly { readonly name: string }[];
  /** Of each library: the others that it may import. */
  readonly libs: Readonly<Record<string, readonly string[]>>;
  /** Of each package: what each of its folders may import. */
  readonly layers: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

const { forbidden, libs, layers } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as Config;

/** A repository in which every import goes through an entry. */
const CLEAN: Record<string, string> = {
  'libs/lease/src/index.ts': "export { lease } from './lease.js';",
  'libs/lease/src/lease.ts':
    "import type { Clock } from './base/clock.js'; export const lease = (clock: Clock) => clock;",
  'libs/lease/src/base/clock.ts':
    'export interface Clock { now(): number } export const systemClock = { now: Date.now };',
  'libs/lease/src/testing/index.ts': 'export const manualClock = 1;',
  'libs/ledger/src/index.ts': "export { claim } from './claim.js';",
  'libs/ledger/src/claim.ts': "export { lease as claim } from '../../lease/src/index.js';",
  'libs/jobs/src/index.ts': "export { job } from './job.js';",
  'libs/jobs/src/job.ts': "import { claim } from '../../ledger/src/index.js'; export const job = claim;",
  'libs/schedule/src/index.ts': "export { next } from './schedule.js';",
  'libs/schedule/src/schedule.ts': "import { createHash } from 'node:crypto'; export const next = createHash;",
  'libs/operations/src/index.ts': "export { doctor } from './doctor.js';",
  'libs/operations/src/doctor.ts': "export { job as doctor } from '../../jobs/src/index.js';",
  'libs/testing/src/index.ts': "export { kit } from './kit.js';",
  'libs/testing/src/kit.ts': "export { job as kit } from '../../jobs/src/index.js';",
  'libs/pod/src/index.ts': "export { boot } from './boot.js';",
  'libs/pod/src/boot.ts': "export { job as boot } from '../../jobs/src/index.js';",
  'libs/console/src/index.ts': "export { api } from './api.js';",
  'libs/console/src/api.ts': "export { doctor as api } from '../../operations/src/index.js';",
  'libs/client/src/index.ts': "export { api } from './api.js';",
  'libs/client/src/api.ts': 'export const api = 1;',
  'apps/scheduler/src/main.ts': "import { next } from '../../../libs/schedule/src/index.js'; console.log(next);",
  'apps/worker/src/main.ts': "import { job } from '../../../libs/jobs/src/index.js'; export const main = job;",
  'test/lease.spec.ts': "import { lease } from '../libs/lease/src/index.js'; console.log(lease);",
};

/** For each rule: the file that breaks it, and what that file imports. */
const PLANTED: Record<string, readonly [from: string, to: string]> = {
  'never-back-from-lease': ['libs/lease/src/planted.ts', '../../jobs/src/index.js'],
  'never-back-from-schedule': ['libs/schedule/src/planted.ts', '../../lease/src/index.js'],
  'never-back-from-ledger': ['libs/ledger/src/planted.ts', '../../jobs/src/index.js'],
  'never-back-from-jobs': ['libs/jobs/src/planted.ts', '../../../apps/worker/src/main.js'],
  'never-back-from-operations': ['libs/operations/src/planted.ts', '../../../apps/worker/src/main.js'],
  'never-back-from-console': ['libs/console/src/planted.ts', '../../../apps/worker/src/main.js'],
  'never-back-from-testing': ['libs/testing/src/planted.ts', '../../../apps/worker/src/main.js'],
  'nothing-needs-testing': ['libs/jobs/src/planted.ts', '../../testing/src/index.js'],
  'never-back-from-client': ['libs/client/src/planted.ts', '../../lease/src/index.js'],
  'never-back-from-pod': ['libs/pod/src/planted.ts', '../../../apps/worker/src/main.js'],
  'apps-are-islands': ['apps/scheduler/src/planted.ts', '../../worker/src/main.js'],
  'lease-by-its-entries': ['libs/jobs/src/planted.ts', '../../lease/src/lease.js'],
  'schedule-by-its-entries': ['libs/jobs/src/planted.ts', '../../schedule/src/schedule.js'],
  'ledger-by-its-entries': ['libs/jobs/src/planted.ts', '../../ledger/src/claim.js'],
  'jobs-by-its-entries': ['apps/worker/src/planted.ts', '../../../libs/jobs/src/job.js'],
  'operations-by-its-entries': ['apps/worker/src/planted.ts', '../../../libs/operations/src/doctor.js'],
  'console-by-its-entries': ['apps/scheduler/src/planted.ts', '../../../libs/console/src/api.js'],
  'testing-by-its-entries': ['apps/cli/src/planted.ts', '../../../libs/testing/src/kit.js'],
  'pod-by-its-entries': ['apps/worker/src/planted.ts', '../../../libs/pod/src/boot.js'],
  'client-by-its-entries': ['apps/worker/src/planted.ts', '../../../libs/client/src/api.js'],
  'pure-without-io': ['libs/jobs/src/scheduling/misfire.ts', 'node:fs'],
  'pure-without-nest': ['libs/ledger/src/base/run-state.ts', '@nestjs/common'],
  'pure-without-clock': ['libs/lease/src/base/fence.ts', './clock.js'],
  'audit-by-itself': ['libs/operations/src/audit/planted.ts', '../doctor.js'],
  'ioredis-in-redis-files': ['libs/lease/src/planted.ts', 'ioredis'],
  'bullmq-in-the-queue': ['libs/jobs/src/running/planted.ts', 'bullmq'],
  'bull-board-in-its-module': ['libs/console/src/planted.module.ts', '@bull-board/api'],
  'pg-in-postgres-files': ['libs/ledger/src/redis-planted.ts', 'pg'],
  'opentelemetry-in-its-files': ['libs/jobs/src/telemetry/planted.ts', '@opentelemetry/api'],
  'prom-client-in-metrics': ['libs/jobs/src/telemetry/planted.ts', 'prom-client'],
  'no-circle': ['libs/lease/src/base/clock.ts', '../lease.js'],
  'no-test-in-production': ['libs/lease/src/planted.ts', '../../../test/lease.spec.js'],
  'everything-resolves': ['apps/worker/src/planted.ts', './gone.js'],
};

type Found = Awaited<ReturnType<typeof inspectBoundaries>>;

let repository: string;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(repository, file)), { recursive: true });
  writeFileSync(join(repository, file), text);
}

function writeClean(): void {
  repository = mkdtempSync(join(tmpdir(), 'repository-'));
  for (const [file, text] of Object.entries(CLEAN)) write(file, text);
}

const discard = () => rmSync(repository, { recursive: true, force: true });

/** In a repository with all of these files at once: the cruiser takes far longer to look than to find one violation more. */
async function foundWith(files: Readonly<Record<string, string>>): Promise<Found> {
  writeClean();
  try {
    for (const [file, text] of Object.entries(files)) write(file, text);
    return await inspectBoundaries(repository);
  } finally {
    discard();
  }
}

describe('the boundaries between the packages', () => {
  beforeEach(writeClean);
  afterEach(discard);

  it('are all used in a repository that keeps to them', async () => {
    const found = await inspectBoundaries(repository);
    expect(found).toEqual({ seen: Object.keys(CLEAN).length, unseen: [], violations: [] });
    expect(complaints(found)).toEqual([]);
  });

  it('are drawn around every library, and each imports only those named before it', () => {
    const names = Object.keys(libs);
    expect(names.toSorted()).toEqual(readdirSync(new URL('../../libs/', import.meta.url)).toSorted());
    for (const [n, name] of names.entries())
      expect(names.slice(0, n)).toEqual(expect.arrayContaining([...libs[name]!]));
  });

  it('have a planted violation for every rule', () => {
    const layered = Object.entries(layers).flatMap(([workspace, folders]) =>
      Object.keys(folders).map((folder) => `${workspace}/${folder}`),
    );
    expect([...Object.keys(PLANTED), ...layered].toSorted()).toEqual(forbidden.map(({ name }) => name).toSorted());
  });

  describe.each(Object.entries(layers))('the folders of %s', (workspace, folders) => {
    const names = Object.keys(folders);

    it('are all in the table, and no two import each other', () => {
      const source = new URL(`../../${workspace}/src/`, import.meta.url);
      const found = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      const withCode = found.filter(({ name }) =>
        readdirSync(new URL(name, source)).some((file) => file.endsWith('.ts')),
      );
      expect(names.toSorted()).toEqual(withCode.map(({ name }) => name).toSorted());
      expect(names.filter((name) => folders[name]?.some((other) => folders[other]?.includes(name)))).toEqual([]);
    });

    it('cannot import a folder beside or above them', async () => {
      const pairs = names.flatMap((from) => names.map((to) => [from, to] as const));
      const wrong = pairs.filter(([from, to]) => from !== to && !folders[from]?.includes(to));
      for (const name of names) write(`${workspace}/src/${name}/plant.ts`, `export const planted = 1;`);
      for (const [from, to] of pairs.filter(([one, other]) => one !== other)) {
        write(`${workspace}/src/${from}/imports-${to}.ts`, `export * from '../${to}/plant.js';`);
      }
      const { violations } = await inspectBoundaries(repository);
      const told = violations.filter(({ rule }) => rule.startsWith(`${workspace}/`));
      expect(told.map(({ rule, to }) => `${rule} -> ${to}`).toSorted()).toEqual(
        wrong.map(([from, to]) => `${workspace}/${from} -> ${workspace}/src/${to}/plant.ts`).toSorted(),
      );
    });
  });

  it('are not proven by a cruiser that saw nothing', async () => {
    for (const area of ['libs', 'apps', 'test']) rmSync(join(repository, area), { recursive: true });
    expect(complaints(await inspectBoundaries(repository))).toEqual([expect.stringContaining('no module at all')]);
  });

  it('are not proven by a cruiser that passed over a file', () => {
    const found = { seen: 9, unseen: ['libs/lease/src/lease.ts'], violations: [] };
    expect(complaints(found)).toEqual(['not looked at: libs/lease/src/lease.ts']);
  });
});

describe('a rule', () => {
  /** A file of its own for each. */
  const fileOf = (rule: string) =>
    (PLANTED[rule]?.[0] ?? '').replace('planted', `planted-${Object.keys(PLANTED).indexOf(rule)}`);
  let found: Found;
  beforeAll(async () => {
    const planted = Object.entries(PLANTED).map(([rule, [, to]]) => {
      const before = CLEAN[fileOf(rule)] ?? '';
      return [fileOf(rule), `${before}\nimport * as planted from '${to}'; console.log(planted);`];
    });
    found = await foundWith(Object.fromEntries(planted) as Record<string, string>);
  });

  it.each(Object.keys(PLANTED))('%s fires on a planted violation', (rule) => {
    expect(found.violations).toContainEqual(expect.objectContaining({ rule, from: fileOf(rule) }));
    expect(complaints(found)).toContainEqual(expect.stringContaining(`${rule}: ${fileOf(rule)}`));
  });
});

describe('specs, and what they share', () => {
  const innerOf = (lib: string) => `libs/${lib}/src/inner.ts`;

  function waysInto(lib: string): Record<string, string> {
    const other = lib === 'lease' ? 'jobs' : 'lease';
    const inner = innerOf(lib).replace('.ts', '.js');
    return {
      [`libs/${other}/src/${lib}-planted.spec.ts`]: `import { inner } from '../../${lib}/src/inner.js'; console.log(inner);`,
      [`libs/${other}/src/${lib}-planted.stage.ts`]: `export type Inner = typeof import('../../${lib}/src/inner.js');`,
      [`test/${lib}-planted.spec.ts`]: `import type * as inner from '../${inner}'; export type Inner = typeof inner;`,
      [`test/support/${lib}-planted.ts`]: `export const inner = () => import('../../${inner}');`,
    };
  }

  let found: Found;
  beforeAll(async () => {
    const files = Object.keys(libs).map((lib) => ({
      ...waysInto(lib),
      [innerOf(lib)]: 'export const inner = 1;',
      [`libs/${lib}/src/beside.spec.ts`]: "import { inner } from './inner.js'; console.log(inner);",
    }));
    found = await foundWith(Object.assign({}, ...files) as Record<string, string>);
  });

  it.each(Object.keys(libs))('stay out of libs/%s but for its entries', (lib) => {
    const rule = `${lib}-by-its-entries`;
    const told = found.violations.filter((violation) => violation.rule === rule);
    expect(told.toSorted((a, b) => (a.from < b.from ? -1 : 1))).toEqual(
      Object.keys(waysInto(lib))
        .toSorted()
        .map((from) => ({ rule, from, to: innerOf(lib) })),
    );
  });
});
