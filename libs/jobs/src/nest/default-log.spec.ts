import 'reflect-metadata';
import { stripVTControlCharacters } from 'node:util';
import { ConsoleLogger, Logger, Module, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EVENT_TEXT } from '../telemetry/event-text.js';
import type { EventName, Events } from '../telemetry/events.js';
import { logEvents } from '../telemetry/log-events.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { logByDefault } from './default-log.js';

@Module({})
class Empty {}

const FORGED = '[Nest] 1  - 11/27/2026, 7:00:00 PM     LOG [Fencepost] this pod has started';
const PREFIX = /^\[Nest\] \d+ {2}- .*? (LOG|WARN|ERROR|DEBUG) \[Fencepost\] /;
const BEFORE = Reflect.get(Logger, 'staticInstanceRef') as LoggerService;

let clock: ManualClock;
let telemetry: Telemetry;
let flush: () => void;
let written: string;

beforeEach(() => {
  [clock, telemetry, written] = [new ManualClock(), new Telemetry(), ''];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((chunk) => ((written += String(chunk)), true));
  flush = logByDefault(telemetry, clock);
});

afterEach(() => {
  vi.restoreAllMocks();
  Logger.overrideLogger(BEFORE);
  BEFORE.setLogLevels?.(['log', 'error', 'warn', 'debug', 'verbose', 'fatal']);
  Reflect.set(Logger, 'logLevels', undefined);
});

/** The output without Nest's colours. */
const text = () => stripVTControlCharacters(written);
const lines = () => text().split('\n').slice(0, -1);
const records = () => lines().map((line) => JSON.parse(line) as Record<string, unknown>);

function failed(err: Error, cron = 'nightly', state: 'failed' | 'enqueued' = 'failed'): void {
  const run = { cron, runId: `${cron}@1`, attempt: 2, fence: parseFence('7') };
  telemetry.emit('attempt.failed', { ...run, err, state, retryInMs: null, tookMs: 5 });
}

function skipped(cron: string, reason: 'overlap' | 'paused' = 'overlap'): void {
  telemetry.emit('occurrence.skipped', { cron, scheduledAt: 1, reason });
}

describe('the default log', () => {
  it('writes every event of level warn and above, and some others', () => {
    for (const event of Object.keys(EVENT_TEXT) as EventName[]) telemetry.emit(event, {} as Events[typeof event]);
    const levels: Readonly<Record<string, string>> = { warn: 'WARN', error: 'ERROR' };
    const expected = (Object.keys(EVENT_TEXT) as EventName[]).flatMap((event) => {
      const level = levels[EVENT_TEXT[event][0]];
      return level === undefined ? [] : [`${level} ${event.replaceAll(/[.-]/g, '_')}`];
    });
    const also = [
      ...['LOG pod_started', 'LOG roles_disabled', 'DEBUG occurrence_claimed', 'LOG run_cancelled'],
      'LOG cron_resumed',
      ...['LOG catalog_created', 'LOG catalog_changed', 'LOG catalog_restored', 'LOG catalog_superseded'],
    ];
    const seen = lines().map((line) => line.replace(/^.* (\w+) \[Fencepost\] .*\((\w+)\)$/, '$1 $2'));
    expect(expected.length).toBeGreaterThan(40);
    expect(seen.toSorted()).toEqual([...expected, ...also].toSorted());
  });

  it('shows a run that failed for good at ERROR, and an attempt that is retried at WARN', () => {
    failed(new Error('refused'), 'nightly', 'enqueued');
    failed(new Error('refused'));
    const [retried = '', , ...more] = lines().filter((line) => !line.startsWith('    at '));
    expect(retried).toMatch(/ WARN \[Fencepost\] attempt failed: Error: refused \(attempt_failed, cron nightly, /);
    expect(more).toEqual([]);
    expect(text()).toMatch(/ ERROR \[Fencepost\] attempt failed: Error: refused .*state failed/);
  });

  it('shows no skip that a pause asked for', () => {
    skipped('nightly', 'paused');
    expect(written).toBe('');
    skipped('nightly', 'overlap');
    expect(text()).toContain('WARN [Fencepost] occurrence skipped: an earlier run of the cron is still open');
  });

  it('limits lines by event and cron, and tells how many it left out', async () => {
    for (let n = 0; n < 124; n += 1) skipped('busy');
    skipped('other');
    expect(lines()).toHaveLength(6);
    await clock.advance(60_000);
    expect(lines()).toHaveLength(7);
    expect(lines().at(-1)).toMatch(
      / \(118 more in the last minute\) \(occurrence_skipped, cron busy, .*omitted 118\)$/,
    );
  });

  it('limits an error too, and shows what it left out after ten seconds, or when the application stops', async () => {
    for (let n = 0; n < 7; n += 1) failed(new Error(`no ${n}`));
    expect(text()).not.toContain('no 5');
    await clock.advance(10_000);
    expect(text()).toMatch(/attempt failed \(1 more in the last 10 s\): Error: no 5 \(/);
    failed(new Error('the last one'));
    expect(text()).not.toContain('the last one');
    flush();
    expect(text()).toContain('the last one');
  });

  it('limits failures of a store by operation where they name no cron', () => {
    const err = new Error('Connection is closed.');
    for (let n = 0; n < 50; n += 1) telemetry.emit('store.failed', { operation: 'membership.heartbeat', err });
    telemetry.emit('store.failed', { operation: 'catalog.read', err });
    const seen = lines().filter((line) => PREFIX.test(line));
    expect(seen).toHaveLength(6);
    expect(seen.at(-1)).toContain('operation catalog.read');
  });

  it('begins with the warnings of stores that were opened before it', () => {
    telemetry = new Telemetry();
    telemetry.emit('catalog.read', { crons: 1 });
    telemetry.emit('store.warning', { code: 'NO_PERSISTENCE', found: 'found none' });
    expect(written).toBe('');
    logByDefault(telemetry, clock);
    expect(lines()).toEqual([expect.stringContaining('WARN [Fencepost] lease server cannot guarantee')]);
    skipped('nightly');
    expect(lines()).toHaveLength(2);
  });

  it('leaves the events to an application that logs them itself', () => {
    const end = logEvents(telemetry, { debug() {}, info() {}, warn() {}, error() {} }, clock);
    failed(new Error('refused'));
    expect(written).toBe('');
    end();
    failed(new Error('refused'));
    expect(written).not.toBe('');
  });
});

describe("the default log on Nest's own logger", () => {
  it.each(['\n', '\r', '\r\n', '\u2028', '\u0085', '\u001b[2K\u001b[1G', '\n    at x (y:1:1)\n'])(
    'lets nothing after %j in an error, a cron or a field look like a line of a log',
    (end) => {
      Logger.overrideLogger(new ConsoleLogger({ colors: false }));
      const forged = `no${end}${FORGED}`;
      failed(new Error(forged));
      failed(Object.assign(new Error('x'), { name: forged, stack: `Error: x\n    at a${end}${FORGED}\n${FORGED}` }));
      failed(new AggregateError([new Error(forged)], forged), forged);
      telemetry.emit('alarm.raised', { cron: 'nightly', kind: 'late', since: 1, text: forged } as never);
      const all = written.split(/[\p{Cc}\p{Zl}\p{Zp}]+/u).slice(0, -1);
      const own = all.filter((line) => !/^ {4}at /.test(line));
      expect(own).toHaveLength(4);
      for (const line of own) expect(line.replace(PREFIX, '')).toMatch(/^(attempt failed|alarm raised)/);
      expect(written).not.toContain('\u001b');
    },
  );

  it('follows with the frames of an error, indented, and no second time with its message', () => {
    failed(new TypeError('two\nlines'));
    const [first = '', ...below] = lines();
    expect(first).toMatch(/attempt failed: TypeError: two\\nlines \(attempt_failed, cron nightly, .*tookMs 5\)$/);
    expect(below[0]).toMatch(/^ {4}at .*default-log\.spec\.ts/);
    expect(text().match(/lines/g)).toHaveLength(1);
  });

  it('cuts an error of 5 MB, and names its type', () => {
    failed(new RangeError('x'.repeat(5_000_000)));
    expect(lines()[0]).toMatch(/attempt failed: RangeError: x{2000}… \(5000000 characters\) \(attempt_failed, /);
    expect(written.length).toBeLessThan(10_000);
  });

  it('shows an error whose getters throw', () => {
    const err = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('not readable');
      },
    });
    failed(err);
    telemetry.emit('store.failed', { operation: 'catalog.read', err });
    expect(text()).toContain('attempt failed: Error: [unreadable] (attempt_failed, cron nightly');
    expect(text()).toContain('store operation failed: Error: [unreadable] (store_failed, operation catalog.read)');
  });

  it('writes nothing with logger: false, and no level that is off', () => {
    Logger.overrideLogger(['error']);
    skipped('nightly');
    expect(written).toBe('');
    failed(new Error('refused'));
    expect(text()).toContain('ERROR [Fencepost] attempt failed');
    written = '';
    const warnings = vi.spyOn(process, 'emitWarning');
    Logger.overrideLogger(false);
    failed(new Error('refused'));
    expect([written, warnings.mock.calls]).toEqual(['', []]);
  });
});

describe('the default log on a logger of JSON', () => {
  const fields = { event: 'attempt_failed', cron: 'nightly', runId: 'nightly@1', attempt: 2, state: 'failed' };
  const err = {
    type: 'TypeError',
    message: 'two\nlines',
    stack: expect.stringContaining('TypeError: two\nlines\n    at '),
  };

  it('is one record a line, its fields under params', () => {
    Logger.overrideLogger(new ConsoleLogger({ json: true }));
    failed(new TypeError('two\nlines'));
    skipped('nightly');
    expect(records()).toMatchObject([
      { level: 'error', context: 'Fencepost', message: 'attempt failed', params: { ...fields, err } },
      { level: 'warn', context: 'Fencepost', params: { event: 'occurrence_skipped', reason: 'overlap' } },
    ]);
  });

  it('has the fields beside the message where the logger flattens them', () => {
    Logger.overrideLogger(new ConsoleLogger({ json: true, flattenParams: true }));
    failed(new TypeError('two\nlines'));
    expect(records()).toMatchObject([{ level: 'error', message: 'attempt failed', ...fields, err }]);
  });

  it('is one record too where the logger takes every argument for a message, as that of Nest 11 does', () => {
    Logger.overrideLogger(new ConsoleLogger({ json: true, structuredParams: false }));
    failed(new TypeError('two\nlines'));
    skipped('nightly');
    expect(records()).toMatchObject([
      { level: 'error', context: 'Fencepost', message: { message: 'attempt failed', ...fields, err } },
      { level: 'warn', context: 'Fencepost', message: { event: 'occurrence_skipped' } },
    ]);
  });
});

describe('the default log on a logger that it does not know', () => {
  const calls: unknown[][] = [];
  const note = (...args: unknown[]) => void calls.push(args);

  beforeEach(() => void calls.splice(0));

  it('hands over one text and the context', () => {
    Logger.overrideLogger({ log: note, warn: note, error: note });
    skipped('nightly\nx');
    failed(new Error('a\nb'));
    telemetry.emit('occurrence.claimed', {} as never);
    expect(calls).toEqual([
      [expect.stringMatching(/^occurrence skipped: .* cron nightly\\nx, .*\)$/), 'Fencepost'],
      [expect.stringMatching(/^attempt failed: Error: a\\nb \(/), undefined, 'Fencepost'],
    ]);
  });

  it('hands over what was logged before the application set its logger, in the form of that one', async () => {
    const app = await NestFactory.createApplicationContext(Empty, { bufferLogs: true, autoFlushLogs: false });
    Logger.attachBuffer();
    skipped('nightly');
    expect(calls).toEqual([]);
    app.useLogger(new ConsoleLogger({ json: true }));
    app.flushLogs();
    const own = records().filter(({ context }) => context === 'Fencepost');
    expect(own).toMatchObject([{ params: { event: 'occurrence_skipped' } }]);
    await app.close();
  });

  it('survives a logger that throws, for held lines too', async () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const fail = () => {
      throw new Error('disk full');
    };
    Logger.overrideLogger({ log: note, warn: fail, error: note });
    for (let n = 0; n < 7; n += 1) skipped('nightly');
    await clock.advance(60_000);
    expect(warnings).toHaveBeenCalledTimes(6);
    expect(warnings).toHaveBeenCalledWith('The logger of the application failed: Error: disk full');
    Logger.overrideLogger({ log: note, warn: note, error: note });
    skipped('another');
    expect(calls).toHaveLength(1);
  });
});
