import { ManualClock } from '@fencepost/lease/testing';
import { MemoryAuditTrail, MemoryCatalog } from '@fencepost/ledger/memory';
import { beforeEach, describe, expect, it } from 'vitest';
import { START } from '../../../../test/support/audit-history.js';
import { InvalidCronsError } from './checked-crons.js';
import { CronCatalog } from './cron-catalog.js';
import type { NamedCron } from './cron-settings.js';
import { importLines, lineOf, readCronLines } from './cron-lines.js';
import type { ManyProgress } from './many-crons.js';

const ORDER = { by: 'ada', reason: 'new tenant' };
const LIMITS = { maxLines: 10, maxBytes: 10_000 };
const clock = new ManualClock(START);

let catalog: MemoryCatalog;
let audit: MemoryAuditTrail;
let crons: CronCatalog;

beforeEach(() => {
  catalog = new MemoryCatalog(clock, { maxCrons: 2_500 });
  audit = new MemoryAuditTrail({ clock });
  crons = new CronCatalog({ catalog, clock, audit });
});

function cron(n: number, over: Partial<NamedCron> = {}): NamedCron {
  return { name: `tenant-${n}`, expression: '0 3 * * *', tags: [n % 2 ? 'odd' : 'even'], ...over };
}

const many = (count: number) => Array.from({ length: count }, (_, n) => cron(n));
const records = async () => (await audit.list({ limit: 100 })).toReversed();

async function namesThere(): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of crons.export()) names.push(name);
  return names;
}

describe('many crons that are made in one order', () => {
  it('are there, and the same order again changes nothing and leaves no record', async () => {
    const first = await crons.setMany(many(3), ORDER);
    expect(first).toEqual({
      ...{ total: 3, asked: 3, created: 3, changed: 0, unchanged: 0, failed: 0 },
      ...{ dryRun: false, problems: [], stopped: null },
    });
    expect(await crons.get('tenant-1')).toMatchObject({ by: 'ada', reason: 'new tenant', app: null });
    const again = await crons.setMany([...many(2), cron(2, { grace: '5m' })], ORDER);
    expect(again).toMatchObject({ created: 0, changed: 1, unchanged: 2 });
    await crons.setMany(many(2), ORDER);
    expect(await records()).toMatchObject([
      { action: 'set', by: 'ada', role: 'app', crons: ['tenant-0', 'tenant-1', 'tenant-2'], reason: 'new tenant' },
      { action: 'set', crons: ['tenant-2'], after: { created: 0, changed: 1, unchanged: 2, failed: [] } },
    ]);
  });

  it('are all validated before the first is written, and each that is wrong is named with its place', async () => {
    const given = [cron(0), cron(1, { expression: '61 * * * *' }), cron(2, { grace: 'soon' }), cron(0), cron(3)];
    const error: unknown = await crons.setMany(given, ORDER).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvalidCronsError);
    const { problems, message } = error as InvalidCronsError;
    expect(problems.map(({ position, cron: name, code }) => [position, name, code])).toEqual([
      [2, 'tenant-1', 'CRON_DECLARATION'],
      [3, 'tenant-2', 'CRON_DECLARATION'],
      [4, 'tenant-0', 'OPERATOR_INPUT'],
    ]);
    expect(message).toMatch(/^Nothing was written: 3 of 5 crons are invalid\. The first is number 2: .*minute field/);
    expect(await namesThere()).toEqual([]);
    await expect(crons.setMany(given, { by: '' })).rejects.toThrow('Expected by');
  });

  it('are written in parts of a thousand, each with its record, and say how far they are', async () => {
    const heard: ManyProgress[] = [];
    await crons.setMany(many(2_100), { ...ORDER, onProgress: (progress) => void heard.push(progress) });
    expect(heard.map(({ asked, created, total }) => [asked, created, total])).toEqual([
      [1_000, 1_000, 2_100],
      [2_000, 2_000, 2_100],
      [2_100, 2_100, 2_100],
    ]);
    expect((await records()).map((record) => record.crons?.length)).toEqual([1_000, 1_000, 100]);
  });

  it('stop before the next part when they are told to, and the same order goes on', async () => {
    const stopping = new AbortController();
    const order = { ...ORDER, signal: stopping.signal, onProgress: () => stopping.abort() };
    const stopped = await crons.setMany(many(2_100), order);
    expect(stopped).toMatchObject({ asked: 1_000, created: 1_000, stopped: { code: 'ABORTED' } });
    const rest = await crons.setMany(many(2_100), ORDER);
    expect(rest).toMatchObject({ created: 1_100, unchanged: 1_000, stopped: null });
  });

  it('end at the limit of the catalog, with how many were written and what to do', async () => {
    const report = await crons.setMany(many(2_600), ORDER);
    expect(report).toMatchObject({ created: 2_500, stopped: { code: 'CATALOG_FULL' } });
    expect(report.stopped?.detail).toBe(
      'The catalog has 2500 crons and may have 2500. Remove crons that are no longer needed, or raise "maxCrons" in JobsModule.',
    );
    expect(report.problems[0]).toMatchObject({ position: 2_501, cron: 'tenant-2500', code: 'CATALOG_FULL' });
    await expect(crons.set('one-more', { expression: '@daily' }, ORDER)).rejects.toMatchObject({
      code: 'CATALOG_FULL',
    });
  });

  it('are only counted in a dry run', async () => {
    await crons.setMany(many(2), ORDER);
    const report = await crons.setMany([cron(0), cron(1, { disabled: true }), cron(2)], { ...ORDER, dryRun: true });
    expect(report).toMatchObject({ dryRun: true, created: 1, changed: 1, unchanged: 1 });
    expect(await namesThere()).toHaveLength(2);
    expect(await records()).toHaveLength(1);
  });

  it('can be removed in one order, in which those that are gone already count as unchanged', async () => {
    await crons.setMany(many(3), ORDER);
    const report = await crons.removeMany(['tenant-0', 'tenant-2', 'nobody'], ORDER);
    expect(report).toMatchObject({ total: 3, changed: 2, unchanged: 1, failed: 0 });
    expect(await namesThere()).toEqual(['tenant-1']);
    expect((await records()).at(-1)).toMatchObject({ action: 'remove', crons: ['tenant-0', 'tenant-2'] });
    await expect(crons.removeMany(['no name'], ORDER)).rejects.toThrow(InvalidCronsError);
  });
});

describe('crons as lines', () => {
  const read = (text: string, limits = LIMITS) =>
    readCronLines(
      (async function* () {
        // Cut where no line ends, and inside a character.
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
      })(),
      limits,
    );

  it('are the same crons after an export and an import elsewhere', async () => {
    await crons.setMany(
      [cron(0, { description: 'Zürich – täglich', payload: { n: 1 } }), cron(1, { disabled: true })],
      ORDER,
    );
    const lines: string[] = [];
    for await (const one of crons.export()) lines.push(lineOf(one));
    const elsewhere = new CronCatalog({ catalog: new MemoryCatalog(clock), clock });
    const report = await importLines(elsewhere, await read(`${lines.join('\r\n')}\n\n`), ORDER);
    expect(report).toMatchObject({ created: 2, failed: 0 });
    const definitions = async (of: CronCatalog) =>
      (await of.list()).map(({ state, definition }) => [state, definition]);
    expect(await definitions(elsewhere)).toEqual(await definitions(crons));
    expect((await read(lines.join('\n'))).crons).toHaveLength(2);
  });

  it('can be exported by tag', async () => {
    await crons.setMany(many(5), ORDER);
    const names: string[] = [];
    for await (const { name } of crons.export({ tag: 'odd' })) names.push(name);
    expect(names).toEqual(['tenant-1', 'tenant-3']);
  });

  it('that are no crons are named with their line, and nothing is written', async () => {
    const lines = [
      lineOf(cron(0)),
      '',
      '{"name":',
      '["tenant-1"]',
      '{"expression":"@daily"}',
      lineOf(cron(2, { expression: 'x' })),
    ];
    const imported = importLines(crons, await read(lines.join('\n')), ORDER);
    const error = (await imported.catch((reason: unknown) => reason)) as InvalidCronsError;
    expect(error.problems.map(({ position, code }) => [position, code])).toEqual([
      [3, 'NOT_JSON'],
      [4, 'NOT_JSON'],
      [5, 'NOT_JSON'],
      [6, 'CRON_DECLARATION'],
    ]);
    expect(error.count).toBe(4);
    expect(await namesThere()).toEqual([]);
  });

  it('are refused where they are too many, too long, or too large together', async () => {
    const refused = { code: 'TOO_LARGE' };
    await expect(read(many(11).map(lineOf).join('\n'))).rejects.toMatchObject(refused);
    await expect(read('x'.repeat(10_001))).rejects.toMatchObject(refused);
    const limits = { maxLines: 10, maxBytes: 1_000_000 };
    await expect(read(`{"name":"a","payload":"${'x'.repeat(140_000)}"}`, limits)).rejects.toThrow(
      'Expected at most 128 KiB in line 1. Nothing was written: send it in parts.',
    );
  });
});
