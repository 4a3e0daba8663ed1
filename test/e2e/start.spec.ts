import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const ROOT = join(import.meta.dirname, '../..');
const START = 'scripts/start.mjs';
const DEMO = 'apps/demo/dist/main.js';
const FENCEPOST = 'apps/cli/bin/fencepost.mjs';
/** What the demo says of each pod. */
const UP = /is up, pid (\d+)/;
const PATIENCE_MS = 60_000;
const SECONDS = 8;
const SCHEDULERS = 3;

let redis: PrivateRedis | undefined;
const started: Program[] = [];
/** Process groups that a failed test may have left. */
const groups = new Set<number>();

/** A program as a person starts it, and all it has said. */
class Program {
  out = '';
  err = '';
  readonly child: ChildProcess;
  readonly #exit: Promise<unknown>;

  constructor(file: string, args: readonly string[], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [file, ...args], {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: '1', REDIS_URL: url(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exit = once(this.child, 'close');
    this.child.stdout?.on('data', (chunk: Buffer) => (this.out += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.err += chunk.toString()));
    started.push(this);
  }

  get said(): string {
    return this.out + this.err;
  }

  get folder(): string {
    return /(?:logs of the pods|The logs of the pods are) in (\S+)/.exec(this.said)?.[1] ?? 'none was told';
  }

  async says(wanted: RegExp): Promise<void> {
    const saying = until(`it says ${wanted}`, async () => wanted.test(this.said), PATIENCE_MS);
    await saying.catch((error: Error) => {
      throw new Error(`${error.message} It said:\n${this.said}`);
    });
  }

  async ended(): Promise<number | null> {
    await this.#exit;
    return this.child.exitCode;
  }
}

function url(): string {
  if (!redis) throw new Error('Expected the Redis of this spec to be up.');
  return redis.url;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** All that run now. A zombie does nothing any more, and may wait long for a burial where pid 1 is no init. */
function processes(): Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=']).toString().trim().split('\n');
  return lines.flatMap((line) => {
    const [pid = 0, parent = 0, group = 0] = line.trim().split(/\s+/).map(Number);
    return line.trim().split(/\s+/)[3]?.startsWith('Z') ? [] : [{ pid, parent, group }];
  });
}

/** The supervisor and its pods: it leads a group in which all of them are, told or not. */
function groupOf(demo: Program): number {
  const [pid] = [...demo.said.matchAll(/is up, pid (\d+)/g)].map((match) => Number(match[1]));
  const group = processes().find((process) => process.pid === pid)?.group;
  if (group === undefined) throw new Error(`Expected a pod to be up; it said:\n${demo.said}`);
  groups.add(group);
  return group;
}

/** The same, as soon as the processes of its three schedulers exist: how far they have come makes no difference. */
async function groupOfStarting(demo: Program): Promise<number> {
  const group = await until('its schedulers exist', async () => leaderOfPods(demo.child.pid), PATIENCE_MS);
  groups.add(group);
  return group;
}

function leaderOfPods(program: number | undefined): number | null {
  const all = processes();
  const below = (pid: number): Process[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...below(child.pid)]);
  const isSupervisor = ({ pid, group }: Process) =>
    pid === group && all.filter(({ parent }) => parent === pid).length >= SCHEDULERS;
  return below(program ?? 0).find(isSupervisor)?.pid ?? null;
}

function membersOf(group: number): number[] {
  return processes().flatMap((process) => (process.group === group ? [process.pid] : []));
}

async function expectGroupGone(group: number): Promise<void> {
  const look = async () => membersOf(group).length === 0;
  await until(`nobody is left of the group ${group}`, look, PATIENCE_MS);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself, as it should be.
  }
}

beforeAll(async () => {
  await ensureBuilt();
  redis = await privateRedis();
}, 600_000);

afterEach(() => {
  for (const { child, folder } of started.splice(0)) {
    if (child.pid !== undefined && child.exitCode === null) end(child.pid);
    rmSync(folder, { recursive: true, force: true });
  }
  for (const group of groups) for (const pid of membersOf(group)) end(pid);
  groups.clear();
});

afterAll(() => redis?.stop());

describe('npm start', { timeout: 180_000 }, () => {
  describe('for some seconds, on a Redis that was given to it', () => {
    let demo: Program;
    let group: number;
    beforeAll(async () => {
      demo = new Program(START, ['--seconds', `${SECONDS}`, '--json']);
      await demo.says(UP);
      group = groupOf(demo);
      expect(await demo.ended(), demo.err).toBe(0);
    }, 180_000);

    it('ends by itself with one line that says all is in order', () => {
      expect(demo.out.trim().split('\n')).toHaveLength(1);
      const closing = JSON.parse(demo.out) as Record<string, unknown> & { occurrences: number; runs: number };
      const counted = { schedulers: 3, workers: 2, duplicates: 0, missed: 0 };
      expect(closing).toMatchObject({ ok: true, seconds: SECONDS, ...counted });
      expect(Object.keys(closing).slice(0, 12).join(' ')).toBe(
        'ok seconds schedulers workers occurrences runs duplicates missed staleRejected takeovers lateMsP50 lateMsP99',
      );
      // One cron fires every two seconds and one every five: at least so many instants lie in eight seconds.
      expect(closing.occurrences).toBeGreaterThanOrEqual(5);
      expect(closing.runs).toBeGreaterThanOrEqual(4);
    });

    it('leaves no process and no file', () => {
      expect(membersOf(group)).toEqual([]);
      expect(existsSync(demo.folder)).toBe(false);
    });

    it('leaves in Redis what an audit looks up, and nothing else', async () => {
      expect(demo.err).toContain('npx fencepost audit --redis');
      const connection = await connectRedis({ url: url(), commandTimeoutMs: 5_000, name: 'start.spec' });
      const keys = await connection.keys('*');
      await closeRedis(connection);
      expect(keys.filter((key) => !/^(fencepost:v1:\{demo:|\{fencepost:demo\})/.test(key))).toEqual([]);

      const audit = new Program(FENCEPOST, ['audit', '--json', '--redis', url()]);
      expect(await audit.ended(), audit.said).toBe(0);
      const report = JSON.parse(audit.out) as { readonly instants: number };
      expect(report).toMatchObject({ ok: true, missed: 0, doubled: 0, unexplained: 0 });
      // Fewer than there were: of the last seconds before the end nothing can be said.
      expect(report.instants).toBeGreaterThan(0);
    });
  });

  it('refuses a bad option with one sentence, before it starts anything', async () => {
    const demo = new Program(START, ['--seconds', 'abc', '--json']);
    expect(await demo.ended()).toBe(1);
    expect(demo.out).toBe('');
    const [sentence, ...more] = demo.err.trim().split('\n');
    expect(sentence).toContain("'abc'");
    expect(more).toEqual([]);
  });

  it('is taken away with all its pods when only the script above it is killed', async () => {
    const start = new Program(START, ['--json']);
    const group = await groupOfStarting(start);
    const demo = processes().find(({ pid }) => pid === group)?.parent ?? 0;
    expect(processes().find(({ pid }) => pid === demo)?.parent).toBe(start.child.pid);
    start.child.kill('SIGKILL');
    await expectGroupGone(group);
    await until('the demo is gone', async () => !processes().some(({ pid }) => pid === demo));
  });
});

describe('the demo', { timeout: 180_000 }, () => {
  it('with chaos is in order all the same, and Ctrl-C ends it in order', async () => {
    const demo = new Program(DEMO, ['--chaos', '--seed', '7']);
    await demo.says(UP);
    const group = groupOf(demo);
    await demo.says(/chaos {4}(killed|froze)[^]*chaos {4}(killed|froze)/);
    demo.child.kill('SIGINT');
    expect(await demo.ended(), demo.said).toBe(0);
    expect(demo.out).toContain('In order: ');
    expect(demo.out).toContain('duplicates 0, missed 0');
    expect(demo.out).toContain('--chaos --seed 7');
    expect(membersOf(group)).toEqual([]);
  });

  it('is found by fencepost in its folder while it runs, and the file goes with it', async () => {
    const file = join(ROOT, '.fencepost.json');
    const demo = new Program(DEMO, ['--json'], { FENCEPOST_REDIS_HOW: 'private' });
    await demo.says(/holds pulse/);
    expect(demo.err).toContain('In another terminal, in this folder: npx fencepost top');
    const { prefix, pid } = JSON.parse(readFileSync(file, 'utf8')) as { prefix: string; pid: number };
    expect(pid).toBe(demo.child.pid);
    expect(demo.err).toContain(`Prefix ${prefix}, tenant demo`);
    const list = new Program(FENCEPOST, ['list', '-o', 'name'], { REDIS_URL: '' });
    expect(await list.ended(), list.said).toBe(0);
    expect(list.out).toBe('latency-report\npulse\nsnapshot\n');
    // A demo in which nothing ran is not in order.
    await demo.says(/pulse@\S+ succeeded/);
    demo.child.kill('SIGTERM');
    expect(await demo.ended(), demo.err).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  it('replaces a pod that somebody else kills, and says who took over', async () => {
    const demo = new Program(DEMO, ['--json']);
    await demo.says(/holds pulse/);
    const group = groupOf(demo);
    const holder = /(scheduler-\d) holds pulse/.exec(demo.err)?.[1] ?? '';
    process.kill(Number(new RegExp(`${holder} is up, pid (\\d+)`).exec(demo.err)?.[1]), 'SIGKILL');
    await demo.says(new RegExp(`${holder} ended \\(SIGKILL\\).*→ .*took.*pulse.*over after`));
    await demo.says(new RegExp(`ended[^]*${holder} is up`));
    demo.child.kill('SIGTERM');
    expect(await demo.ended(), demo.err).toBe(0);
    expect(JSON.parse(demo.out)).toMatchObject({ ok: true, missed: 0, duplicates: 0 });
    expect(membersOf(group)).toEqual([]);
  });

  it('ends at once at the second Ctrl-C, and keeps the logs', async () => {
    const demo = new Program(DEMO, ['--json']);
    const group = await groupOfStarting(demo);
    demo.child.kill('SIGINT');
    demo.child.kill('SIGTERM');
    expect(await demo.ended()).toBe(130);
    expect(demo.out).toBe('');
    expect(membersOf(group)).toEqual([]);
    expect(existsSync(demo.folder)).toBe(true);
  });

  it('leaves no pod behind when it is killed, not even a frozen one', async () => {
    const demo = new Program(DEMO, ['--json']);
    const group = await groupOfStarting(demo);
    process.kill(membersOf(group).find((pid) => pid !== group) ?? 0, 'SIGSTOP');
    demo.child.kill('SIGKILL');
    await expectGroupGone(group);
  });

  it('leaves no pod behind when their supervisor is killed, and says so', async () => {
    const demo = new Program(DEMO, ['--json']);
    const group = await groupOfStarting(demo);
    process.kill(group, 'SIGKILL');
    expect(await demo.ended()).toBe(1);
    expect(demo.err).toContain('The supervisor of the pods is gone');
    await expectGroupGone(group);
  });

  it('does not start without a Redis, says so in one sentence, and leaves no file', async () => {
    const demo = new Program(DEMO, [], { REDIS_URL: 'redis://127.0.0.1:1' });
    expect(await demo.ended()).toBe(1);
    expect(demo.err).toMatch(/^Expected a Redis at redis:\/\/127\.0\.0\.1:1.*\n$/);
  });
});
