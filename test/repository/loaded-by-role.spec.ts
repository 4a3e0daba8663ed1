import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postgresForTests, freshSchema, type TestPostgres } from '../support/postgres.js';
import { freshPrefix, testRedis } from '../support/redis.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LOADED_FILES = new URL('../dist/pods/loaded-files.js', import.meta.url).href;
const SINGLE_ROLE = 'test/dist/pods/single-role.js';

/** A worker process has a budget of files. It may shrink; raising it needs a reason in the commit. */
const WORKER_FILES = 222;
const WORKER_POD_FILES = 279;

/** Code of the scheduler role, and of what looks at crons and changes them. */
const SCHEDULER = /^libs\/jobs\/dist\/(scheduling\/|nest\/scheduler-runner)/;
const WORKER = /^libs\/jobs\/dist\/(running\/(attempt|execute|run\.processor)|nest\/worker-runner)\.js/;
const OPERATOR =
  /^libs\/(console|testing|client)\/|^libs\/operations\/dist\/(alarms|audit|operating|presenting|index)|operations\.module/;
/** A fifth of the files that a worker pod loaded came with it. */
const SWAGGER = /node_modules\/@nestjs\/swagger\//;
const POSTGRES = /^libs\/ledger\/dist\/postgres|postgres-(catalog|database|ledger)|node_modules\/pg(-pool)?\//;

const children: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(
    children.splice(0).map(async (child) => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }),
  );
});

/** Starts a program, and returns what it had loaded by the time it was ready. */
async function loadedBy(program: string, env: Readonly<Record<string, string>>, isReady: RegExp): Promise<string[]> {
  const child = fork(`${ROOT}${program}`, [], {
    execArgv: ['--import', LOADED_FILES],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  await readiness(child, isReady);
  const loaded = once(child, 'message');
  child.send('loaded');
  const [files] = (await loaded) as [string[]];
  return [...new Set(files.map((url) => relative(ROOT, fileURLToPath(url))))].toSorted();
}

function readiness(child: ChildProcess, isReady: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (chunk: unknown) => {
      said += String(chunk);
      if (isReady.test(said)) resolve();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) =>
      reject(new Error(`Expected ${child.spawnfile} to start, it ended with ${code}: ${said}`)),
    );
  });
}

function ofRole(role: string, options: object = {}): Promise<string[]> {
  const all = { redis: testRedis(), prefix: freshPrefix(), ...options };
  return loadedBy(SINGLE_ROLE, { ROLE: role, OPTIONS: JSON.stringify(all) }, /ready/);
}

const ours = (files: readonly string[]) => files.filter((file) => /^(libs|apps)\//.test(file));
const of = (pattern: RegExp, files: readonly string[]) => files.filter((file) => pattern.test(file));

describe('a worker process', () => {
  it('loads no code of schedulers, alarms and operators, and of its own no more files than its budget', async () => {
    const files = await ofRole('worker');
    expect(of(WORKER, files)).not.toEqual([]);
    expect([...of(SCHEDULER, files), ...of(OPERATOR, files), ...of(POSTGRES, files)]).toEqual([]);
    expect(of(/^libs\/operations\//, files)).toEqual([]);
    expect(ours(files).length).toBeLessThanOrEqual(WORKER_FILES);
  });

  it('loads none of it in the pod that the repository ships either, with metrics, journal and health checks', async () => {
    const env = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: freshPrefix(), FENCEPOST_AUTH: 'none', PORT: '0' };
    const files = await loadedBy('apps/worker/dist/main.js', env, /listens on/);
    expect([...of(SCHEDULER, files), ...of(OPERATOR, files), ...of(POSTGRES, files)]).toEqual([]);
    expect(of(SWAGGER, files)).toEqual([]);
    expect(ours(files).length).toBeLessThanOrEqual(WORKER_POD_FILES);
  });
});

describe('a scheduler process', () => {
  it('loads no code that executes runs', async () => {
    const files = await ofRole('scheduler');
    expect(of(SCHEDULER, files)).not.toEqual([]);
    expect([...of(WORKER, files), ...of(OPERATOR, files), ...of(POSTGRES, files)]).toEqual([]);
  });

  it('that is a worker too loads both', async () => {
    const files = await ofRole('scheduler,worker');
    expect(of(SCHEDULER, files)).not.toEqual([]);
    expect(of(WORKER, files)).not.toEqual([]);
  });
});

describe('a process without a role', () => {
  it.each([
    ['', {}],
    ['scheduler,worker', { enabled: false }],
  ])('of roles %j and options %j loads no code of either', async (role, options) => {
    const files = await ofRole(role, options);
    expect(ours(files)).not.toEqual([]);
    expect([...of(SCHEDULER, files), ...of(WORKER, files), ...of(OPERATOR, files)]).toEqual([]);
  });
});

describe('a process with its ledger in PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await postgresForTests();
  });

  it('loads that adapter, and not the ledger in Redis', async () => {
    const postgres = { url: server.url, schema: freshSchema(), migrate: true };
    const files = await ofRole('worker', { ledger: 'postgres', postgres });
    expect(of(POSTGRES, files)).not.toEqual([]);
    expect([...of(SCHEDULER, files), ...of(OPERATOR, files)]).toEqual([]);
    expect(of(/^libs\/ledger\/dist\/redis\/redis-(ledger|attempt|occurrence|operator)/, files)).toEqual([]);
  });
});

describe('the package @fencepost/jobs', () => {
  it('loads neither BullMQ nor ioredis when it is imported', async () => {
    const program = `await import('@fencepost/jobs'); console.log(Object.keys(require('node:module')._cache).join('\\n'));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', `(async () => { ${program} })()`], {
      cwd: `${ROOT}libs/jobs`,
    });
    const loaded = stdout.split('\n');
    expect(loaded.some((file) => file.includes('node_modules/rxjs/'))).toBe(true);
    expect(loaded.filter((file) => /node_modules\/(bullmq|ioredis)\//.test(file))).toEqual([]);
  });
});
