import { parseFence } from '@fencepost/lease';
import { hashResource } from '@fencepost/lease/internal';
import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { EVENT_TEXT } from './event-text.js';
import type { EventName, Events } from './events.js';
import { logEvents, type EventLogger } from './log-events.js';
import { Telemetry } from './telemetry.js';

const UUID = '0d9f1f6e-3c55-4f7b-9d0a-0a4c6c6b9a11';
const fence = parseFence('1787654321123456');

let clock: ManualClock;
let telemetry: Telemetry;
let lines: { level: string; detail: Record<string, unknown>; sentence: string }[];
let stop: () => void;

beforeEach(() => {
  [clock, telemetry, lines] = [new ManualClock(), new Telemetry(), []];
  const write = (level: string) => (detail: Record<string, unknown>, sentence: string) =>
    void lines.push({ level, detail, sentence });
  const logger: EventLogger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  stop = logEvents(telemetry, logger, clock);
});

const fail = () => {
  throw new Error('Expected no line of a level that is off.');
};
const silent = { debug: fail, info: fail, warn: fail, error: fail };

const AWAY = new Error('Connection is closed.');
const trouble = (cron: string) => telemetry.emit('store.failed', { operation: 'cron.sweep', cron, err: AWAY });

describe('the log', () => {
  it('has one line for an event: its name, what it carries, a hash of the resource, and a sentence', () => {
    telemetry.emit('lease.acquired', { cron: 'nightly-report', fence, holder: `pod-7/${UUID}`, ttlMs: 10_000 });
    const resource = hashResource('nightly-report');
    expect(lines).toEqual([
      {
        level: 'info',
        detail: {
          ...{ event: 'lease_acquired', cron: 'nightly-report', resource },
          ...{ fence: 1_787_654_321_123_456, holder: 'pod-7/0d9f1f6e', ttlMs: 10_000 },
        },
        sentence: 'lease acquired',
      },
    ]);
    expect(resource).toMatch(/^[0-9a-f]{12}$/);
  });

  it('never shows the whole of a holder or a worker', () => {
    const about = { cron: 'c', fence, holder: `pod-7/${UUID}` };
    telemetry.emit('lease.released', about);
    telemetry.emit('lease.lost', { ...about, cause: 'it could not be renewed in time' });
    telemetry.emit('attempt.begun', { ...about, runId: 'c@1', attempt: 1, lateByMs: 0, worker: `pod-8/${UUID}` });
    expect(lines).toHaveLength(3);
    expect(JSON.stringify(lines)).not.toContain(UUID.slice(0, 9));
    expect(lines[2]?.detail['worker']).toBe('pod-8/0d9f1f6e');
  });

  it('shows no secret of what an event carries, and asks nothing of a level that is off', () => {
    const err = Object.assign(new Error('redis://app:kAnary@cache is away'), { code: 'ECONNREFUSED' });
    telemetry.emit('store.failed', { operation: 'membership.heartbeat', err });
    expect(lines[0]?.detail['err']).toMatchObject({
      ...{ type: 'Error', message: 'redis://***@cache is away', code: 'ECONNREFUSED' },
      stack: expect.stringMatching(/^Error: redis:\/\/\*\*\*@cache is away\n +at /),
    });
    telemetry.emit('store.warning', { code: 'EVICTION', found: 'redis://app:kAnary@cache evicts keys' });
    expect(lines[1]?.detail['found']).toBe('redis://***@cache evicts keys');
    const asked: string[] = [];
    const quiet: EventLogger = { ...silent, isLevelEnabled: (level) => (asked.push(level), false) };
    logEvents(telemetry, quiet, clock);
    telemetry.emit('catalog.read', { crons: 1 });
    expect(asked).toEqual(['info']);
  });

  it('knows how loud each event is and what it says', () => {
    const names = Object.keys(EVENT_TEXT) as EventName[];
    for (const name of names) telemetry.emit(name, {} as Events[typeof name]);
    expect(lines.map(({ level, sentence }) => [level, sentence])).toEqual(Object.values(EVENT_TEXT));
    for (const { detail } of lines) expect(detail['event']).toMatch(/^[a-z]+(_[a-z]+)+$/);
    for (const [level, sentence] of Object.values(EVENT_TEXT)) {
      expect(level).toMatch(/^(debug|info|warn|error)$/);
      expect(sentence).toMatch(/^[a-z].{10,}[^.]$/);
    }
  });

  it('tells the same trouble once in five seconds, and every other one at once', async () => {
    trouble('a');
    trouble('a');
    trouble('b');
    telemetry.emit('queue.failed', { operation: 'run.enqueue', cron: 'a', err: AWAY });
    await clock.advance(4_999);
    trouble('a');
    expect(lines.map(({ detail }) => [detail['event'], detail['cron']])).toEqual([
      ['store_failed', 'a'],
      ['store_failed', 'b'],
      ['queue_failed', 'a'],
    ]);
    await clock.advance(1);
    trouble('a');
    expect(lines).toHaveLength(4);
  });

  it('tells the same bug once in five seconds, too', async () => {
    const bug = () => telemetry.emit('program.failed', { operation: 'catalog.apply', err: new TypeError('x') });
    for (let n = 0; n < 3; n += 1) bug();
    expect(lines).toHaveLength(1);
    await clock.advance(5_000);
    bug();
    expect(lines).toHaveLength(2);
  });

  it('tells a trouble whose error can not be read', () => {
    const err = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('not readable');
      },
    });
    telemetry.emit('store.failed', { operation: 'catalog.read', err });
    expect(lines[0]?.detail['err']).toMatchObject({ type: 'Error', message: '[unreadable]' });
  });

  it('tells events that are no trouble each time', () => {
    for (let i = 0; i < 3; i += 1) telemetry.emit('catalog.read', { crons: 1 });
    expect(lines).toHaveLength(3);
  });

  it('remembers a bounded number of failures: the oldest may be logged again', () => {
    for (let i = 0; i < 1_000; i += 1) trouble(`cron ${i}`);
    trouble('cron 1');
    expect(lines).toHaveLength(1_000);
    trouble('one too many');
    trouble('cron 999');
    expect(lines).toHaveLength(1_001);
    trouble('cron 0');
    expect(lines).toHaveLength(1_002);
  });

  it('ends when it is stopped', () => {
    stop();
    trouble('a');
    expect(lines).toEqual([]);
  });
});
