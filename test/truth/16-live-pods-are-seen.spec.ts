import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RedisMembership, RedisPodRegistry } from '@fencepost/jobs/internal';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { fencepost } from '../support/fencepost.js';
import { outlivesNobody } from '../support/outlives-nobody.js';
import { freshPrefix, privateRedis, type PrivateRedis } from '../support/redis.js';

/*
 * README's application has JobsModule alone. Each pod here is a process of its own, from what was built.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOON = { timeout: 30_000, interval: 500 };

interface Found {
  readonly code: string;
  readonly level: string;
}

const children: ChildProcess[] = [];
let redis: PrivateRedis;

beforeAll(async () => {
  await ensureBuilt();
  // As getting started starts it: the doctor has something to say of the one that other tests use.
  redis = await privateRedis({ appendonly: 'yes' });
}, 600_000);

afterAll(() => redis.stop());

afterEach(async () => {
  await Promise.all(children.splice(0).map(killed));
});

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

function deployment() {
  const space = { prefix: freshPrefix(), tenant: 'default' };
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', COLUMNS: '400', REDIS_URL: redis.url };
  Object.assign(env, { FENCEPOST_PREFIX: space.prefix, FENCEPOST_TENANT: space.tenant });

  async function start(role: string): Promise<ChildProcess> {
    const options = JSON.stringify({ redis: redis.url, ...space, app: 'shop', removeAfter: '90s' });
    const child = fork(`${ROOT}test/dist/pods/single-role.js`, [], {
      env: { ...env, ROLE: role, OPTIONS: options },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    outlivesNobody(child);
    children.push(child);
    const failed = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`Expected a pod, it ended: ${code}.`)),
    );
    await Promise.race([once(child.stdout as NonNullable<typeof child.stdout>, 'data'), failed]);
    failed.catch(() => {});
    return child;
  }

  /** The program as a person types it, in a process of its own. */
  function typed(...args: string[]): Promise<{ readonly code: number | null; readonly out: string }> {
    return new Promise((resolve) => {
      const command = [`${ROOT}apps/cli/bin/fencepost.mjs`, ...args];
      const child = execFile(process.execPath, command, { env }, (_error, out) =>
        resolve({ code: child.exitCode, out }),
      );
    });
  }

  /** The same in this process, which is quicker. */
  const said = async (...args: string[]) => (await fencepost(args, { env, width: 400 })).out;

  /** But for the advice on Redis. */
  const findings = async (): Promise<readonly Found[]> => {
    const all = JSON.parse(await said('doctor', '--json')) as readonly (Found & { readonly subject: string })[];
    return all.filter(({ subject }) => !subject.startsWith('redis'));
  };
  return { space, start, typed, said, findings };
}

const FALSE = /older release|earlier release|not a live pod|No worker|No scheduler|none has reported|unknown/;

describe('a pod with JobsModule alone', () => {
  it('is seen by doctor, pods and leases', async () => {
    const { start, typed, said, findings } = deployment();
    await start('scheduler,worker');
    expect(await findings()).toMatchObject([
      { code: 'ONE_SCHEDULER', level: 'note' },
      { code: 'LOOKED_AT', level: 'ok', text: expect.stringContaining('Checked 1 pod, 1 cron') },
    ]);
    expect(await typed('doctor')).toEqual({ code: 0, out: expect.not.stringMatching(FALSE) as string });
    expect(await typed('pods')).toEqual({ code: 0, out: expect.stringContaining('scheduler+worker') as string });
    await expect.poll(() => said('leases'), SOON).toMatch(/nightly .* \d\.\d s ago/);
    expect(await said('leases')).not.toMatch(FALSE);
  });

  it('tells how long its app keeps a cron that no live pod declares', async () => {
    const { space, start } = deployment();
    await start('worker');
    const connection = await connectRedis({ url: redis.url, commandTimeoutMs: 5_000, name: 'test' });
    try {
      const pods = await new RedisPodRegistry({ redis: connection, ...space }).list();
      expect(pods).toMatchObject([{ app: 'shop', removeAfterMs: 90_000 }]);
    } finally {
      await closeRedis(connection);
    }
  });

  it('is seen as the only one of its role, and missed when it dies', async () => {
    const { start, findings } = deployment();
    await start('scheduler');
    const worker = await start('worker');
    const codes = async () => (await findings()).map(({ code, level }) => `${level} ${code}`);
    expect(await codes()).toEqual(['note ONE_SCHEDULER', 'ok LOOKED_AT']);
    await killed(worker);
    await expect.poll(codes, SOON).toContain('bad NO_WORKER');
    await Promise.all(children.map(killed));
    await expect.poll(codes, SOON).toContain('bad NO_SCHEDULER');
  });
});

describe('a pod of an earlier release that only sends heartbeats', () => {
  it('is a fact that doctor and pods tell, and no finding follows from what it does not report', async () => {
    const { space, start, said, findings } = deployment();
    const worker = await start('worker');
    const connection = await connectRedis({ url: redis.url, commandTimeoutMs: 5_000, name: 'test' });
    const membership = new RedisMembership({ redis: connection, ...space });
    const beating = setInterval(() => void membership.beat('former/0123456789', 'pod'), 500);
    try {
      await membership.beat('former/0123456789', 'pod');
      const facts = [
        { code: 'POD_UNREPORTED', level: 'note', text: expect.stringContaining('former/01234567') },
        { code: 'LOOKED_AT', level: 'ok' },
      ];
      expect(await findings()).toMatchObject(facts);
      await killed(worker);
      await expect.poll(() => said('pods'), SOON).toContain('none has reported within 15 s');
      expect(await findings()).toMatchObject(facts);
      expect(await said('pods')).toContain('A live process does not report: former/01234567.');
    } finally {
      clearInterval(beating);
      await closeRedis(connection);
    }
  });
});
