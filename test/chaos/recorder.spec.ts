import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Pod } from '../support/pod.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { readRecording } from './recording.js';

const RECORDER = new URL('../dist/pods/recorder.js', import.meta.url).href;

/** A program that uses the ledger as a pod does, and then does what a test wants to see recorded. */
const LEDGER = `
  import { Telemetry } from '@fencepost/jobs';
  import { RedisLedger } from '@fencepost/ledger/redis';
  import { connectRedis } from '@fencepost/lease/redis';
  const { REDIS_URL: url, PREFIX: prefix } = process.env;
  const redis = await connectRedis({ url, commandTimeoutMs: 5000, name: 'recorded' });
  const ledger = new RedisLedger({ redis, prefix, tenant: 'default' });
  const telemetry = new Telemetry();
  const about = { cron: 'tick', runId: 'tick@1000', waitMs: 1, verdict: 'busy' };
  const request = { runId: 'tick@1000', nonce: 'n', worker: 'w', ttlMs: 1000, maxAttempts: 1 };
`;

describe('the recorder', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'recorder-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  async function recorded(program: string, env: Readonly<Record<string, string>> = {}) {
    const file = join(folder, 'recording.jsonl');
    const pod = new Pod({
      name: 'recorded',
      args: ['--import', RECORDER, '--input-type=module', '-e', `${LEDGER}${program}`],
      env: { POD_NAME: 'recorded', RECORD_TO: file, REDIS_URL: testRedis(), PREFIX: freshPrefix(), ...env },
    });
    const { signal, code } = await pod.exited;
    return { ...readRecording(readFileSync(file, 'utf8')), how: signal ?? code, stderr: pod.stderr };
  }

  it('has all that a process did before it was killed, and the call it was killed in', async () => {
    const { calls, events, how } = await recorded(`
      await ledger.begin(request);
      telemetry.emit('attempt.postponed', about);
      void ledger.begin({ ...request, nonce: 'm' });
      process.kill(process.pid, 'SIGKILL');
    `);
    expect(how).toBe('SIGKILL');
    expect(events).toMatchObject([
      { event: 'recording.begun' },
      { event: 'attempt.postponed', detail: { runId: 'tick@1000' } },
    ]);
    expect(calls).toMatchObject([
      { op: 'begin', input: [{ nonce: 'n' }], output: { verdict: 'missing' } },
      { op: 'begin', input: [{ nonce: 'm' }], output: undefined, returnedAt: Infinity },
    ]);
    const [first] = calls;
    expect(first?.calledAt).toBeLessThan(first?.returnedAt ?? 0);
  });

  it('lets a call reject as it did, and does not know its outcome', async () => {
    const { calls, stderr } = await recorded(`
      redis.disconnect();
      await ledger.begin(request).catch((error) => console.error('rejected', error.message));
    `);
    expect(stderr).toContain('rejected');
    expect(calls).toMatchObject([{ op: 'begin', output: undefined, returnedAt: Infinity }]);
  });

  it('knows which calls may have begun runs of which nobody heard', async () => {
    const { calls, stderr } = await recorded(`
      const { RedisScript } = await import('@fencepost/lease/internal/redis');
      const turn = new RedisScript('turn', 'local function begin_attempts() end return 1');
      await turn.run(redis, [], []);
      redis.disconnect();
      await turn.run(redis, [], []).catch((error) => console.error('rejected', error.message));
      await new RedisScript('another', 'return 1').run(redis, [], []).catch(() => {});
    `);
    expect(stderr).toContain('rejected');
    expect(calls).toMatchObject([
      { op: 'turn', output: null },
      { op: 'turn', output: undefined, returnedAt: Infinity },
    ]);
    expect(calls[0]?.returnedAt).toBeLessThan(Infinity);
  });

  it('tells when a process is made to stand still', async () => {
    const stalls = [{ event: 'attempt.postponed', every: 2, forMs: 10, where: { verdict: 'busy' } }];
    const { events } = await recorded(
      `
      for (const verdict of ['busy', 'not-due', 'busy', 'busy']) telemetry.emit('attempt.postponed', { ...about, verdict });
      redis.disconnect();
    `,
      { STALLS: JSON.stringify(stalls) },
    );
    expect(events.filter(({ event }) => event === 'stalled')).toMatchObject([
      { detail: { at: 'attempt.postponed', forMs: 10 } },
    ]);
  });
});

const lines = (...all: object[]) => all.map((line) => JSON.stringify({ pod: 'w', pid: 7, ...line })).join('\n');

describe('a recording', () => {
  it('has calls with their answers, and events in the order in which they were told', () => {
    const text = lines(
      { at: 1, call: 1, op: 'begin', input: [{ runId: 'x' }] },
      { at: 3, event: 'attempt.begun', detail: { attempt: 1 } },
      { at: 2, event: 'stalled', detail: {}, pod: 'v' },
      { at: 5, return: 1, output: null },
    );
    const { calls, events } = readRecording(text);
    expect(calls).toEqual([
      { process: 'w/7/0', op: 'begin', input: [{ runId: 'x' }], output: null, calledAt: 1, returnedAt: 5 },
    ]);
    expect(events.map(({ event }) => event)).toEqual(['stalled', 'attempt.begun']);
  });

  it('does not know the outcome of a call that rejected, or whose process ended in it', () => {
    const text = lines(
      { at: 1, call: 1, op: 'begin', input: [] },
      { at: 2, return: 1, error: 'Command timed out' },
      { at: 3, call: 2, op: 'finish', input: [] },
    );
    expect(readRecording(text).calls).toMatchObject([
      { op: 'begin', output: undefined, returnedAt: Infinity },
      { op: 'finish', output: undefined, returnedAt: Infinity },
    ]);
  });

  it('tells a process from an earlier one of the same number', () => {
    const started = { event: 'recording.begun', detail: {} };
    const call = { call: 1, op: 'begin', input: [] };
    const text = lines({ at: 1, ...started }, { at: 2, ...call }, { at: 3, ...started }, { at: 4, ...call });
    expect(readRecording(`${text}\n${lines({ at: 5, return: 1, output: 'x' })}`).calls).toMatchObject([
      { calledAt: 4, returnedAt: 5 },
      { calledAt: 2, returnedAt: Infinity },
    ]);
  });

  it('takes what a pod says of its own start for an event among others', () => {
    const text = lines({ at: 1, event: 'catalog.known' }, { at: 2, event: 'pod.started' }, { at: 3, event: 'tick' });
    expect(new Set(readRecording(text).events.map(({ process }) => process)).size).toBe(1);
  });

  it('with a hole is refused', () => {
    expect(() => readRecording('{"at":1,')).toThrow(SyntaxError);
    expect(() => readRecording(lines({ at: 1, return: 4, output: null }))).toThrow('before its return');
  });
});
