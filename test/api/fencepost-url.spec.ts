import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { AUDIT_TRAIL, CronCatalog } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Said } from '../support/fencepost.js';
import { tcpProxy } from '../support/proxies.js';
import { SECRETS } from '../support/scheduler-app.js';
import { until } from '../support/until.js';
import { startTwoWays, type TwoWays } from '../support/two-ways.js';

const AT = '2026-03-01T03:00:00Z';

let ways: TwoWays;
let failed: string;
beforeAll(async () => {
  ways = await startTwoWays();
  await ways.crons('nightly', 'report', 'a-direct', 'a-remote', 'asks-direct', 'asks-remote');
  failed = await ways.ended('nightly', 'failed');
  await ways.ended('nightly', 'uncertain');
  await ways.ask('direct', ['pause', 'report', '--reason', 'a flood']);
  // A lease of each cron, and the journal of it: from here on nothing changes by itself.
  await until('each cron has a holder', async () => {
    const { json } = await ways.ask('direct', ['leases', '--json']);
    return (json as { held: unknown[] }).held.length === 6;
  });
});
afterAll(() => ways.running.close());

/** Of one and the same thing, looked at twice, this alone differs. */
const MOVES = ['remainingMs', 'leaseLeftMs', 'holderSilentMs', 'seenAt', 'rttMs', 'lagMs', 'clockSkewMs'];

function still(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, inner: unknown) => (MOVES.includes(name) ? 'moves' : inner)));
}

describe('by way of a console, a command that looks', { timeout: 60_000 }, () => {
  it.each([
    ...[['list'], ['show', 'nightly'], ['runs', 'nightly'], ['runs', 'nightly', '--state', 'failed']],
    ...[
      ['runs', 'nightly', '--state', 'uncertain'],
      ['runs', 'nightly', '--limit', '1'],
      ['why', 'nightly', AT],
    ],
    ...[['failed'], ['failed', '--cron', 'report'], ['uncertain'], ['uncertain', '--cron', 'nightly']],
    ...[['pods'], ['leases'], ['leases', '--cron', 'night'], ['leases', '--holder', 'scheduler'], ['doctor']],
  ])('prints what it prints by way of the stores: %s %s', async (...args) => {
    const words = args.filter((word) => typeof word === 'string');
    const [direct, remote] = [
      await ways.ask('direct', [...words, '--json']),
      await ways.ask('remote', [...words, '--json']),
    ];
    expect(remote.err).toBe('');
    expect([remote.code, still(remote.json)]).toEqual([direct.code, still(direct.json)]);
    expect(Object.keys(Object(direct.json)).length).toBeGreaterThan(words.includes('report') ? -1 : 0);
  });

  it('prints one run with its effects and its journal, and the progress of a forEach', async () => {
    for (const more of [[], ['--for-each', 'card', 'rows']]) {
      const args = ['run', failed, ...more, '--json'];
      const [direct, remote] = [await ways.ask('direct', args), await ways.ask('remote', args)];
      expect(direct.json).toMatchObject({ run: { id: failed }, effects: [{ name: 'card' }] });
      expect([remote.code, remote.json]).toEqual([direct.code, direct.json]);
    }
  });

  it('prints the same words for a person', async () => {
    for (const args of [['list'], ['runs', 'nightly'], ['uncertain'], ['why', 'report', AT]]) {
      const [direct, remote] = [await ways.ask('direct', args), await ways.ask('remote', args)];
      expect(remote.out).toBe(direct.out);
      expect(remote.out).toMatch(/nightly|report/);
    }
  });

  it('refuses a name that is not there, with the same sentence', async () => {
    for (const args of [
      ['show', 'nihgtly'],
      ['runs', 'nihgtly'],
      ['run', 'nightly@1'],
      ['why', 'nightly', 'noon'],
    ]) {
      const [direct, remote] = [await ways.ask('direct', args), await ways.ask('remote', args)];
      expect(remote).toEqual(direct);
      expect(remote).toMatchObject({ code: 2, out: '' });
    }
  });

  it('follows the journal, from before as well', async () => {
    const args = ['tail', '--since', '10m', '--for', '3s', '--cron', 'nightly', '--json'];
    const [direct, remote] = await Promise.all([ways.ask('direct', args), ways.ask('remote', args)]);
    expect(direct.out).toContain('"event":"lease.acquired"');
    expect([remote.code, remote.err, remote.out]).toEqual([0, '', direct.out]);
  });
});

/** Two crons are treated alike, one each way: what differs is their name, when it was, and which run it was. */
function alike(value: unknown, way: 'direct' | 'remote'): unknown {
  const shown = JSON.stringify(value)
    .replaceAll(`-${way}`, '')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"then"')
    .replace(/@manual-[\da-f-]+/g, '@manual');
  return JSON.parse(shown);
}

describe('by way of a console, an order', { timeout: 60_000 }, () => {
  /** In this order: each starts where the one before has ended. */
  it('does and prints what it does and prints by way of the stores, whatever the answer', async () => {
    const because = ['--reason', 'a try'];
    const ordered = async (args: (way: 'direct' | 'remote') => readonly string[]) => {
      const direct = await ways.ask('direct', [...args('direct'), '--json']);
      const remote = await ways.ask('remote', [...args('remote'), '--json']);
      expect([remote.code, alike(remote.json, 'remote'), remote.err]).toEqual([
        direct.code,
        alike(direct.json, 'direct'),
        direct.err,
      ]);
      return { direct: direct.json, remote: remote.json } as Record<'direct' | 'remote', { runId: string }>;
    };
    await ordered((way) => ['pause', `a-${way}`, ...because]);
    await ordered((way) => ['pause', `a-${way}`, '--for', '2h', ...because]);
    await ordered((way) => ['pause', `a-${way}`, '--until', '2099-01-01T00:00:00Z', ...because]);
    await ordered((way) => ['resume', `a-${way}`, ...because]);
    await ordered((way) => ['resume', `a-${way}`, '--missed', 'fire-once', ...because]);
    const triggered = await ordered((way) => ['trigger', `a-${way}`, '--payload', '{"n":1}', ...because]);
    await ordered((way) => ['trigger', `a-${way}`, ...because]);
    await ordered((way) => ['trigger', `a-${way}`, '--force', ...because]);
    await ordered((way) => ['cancel', triggered[way].runId, ...because]);
    await ordered((way) => ['cancel', triggered[way].runId, '--grace', '10s', ...because]);
    await ordered((way) => ['retry', triggered[way].runId, '--payload', '{"n":2}', '--force', ...because]);
    const span = ['--from', '2025-01-01', '--to', '2026-06-01'];
    await ordered((way) => ['backfill', `a-${way}`, ...span, '--dry-run', ...because]);
    const asks = {
      direct: await ways.ended('asks-direct', 'uncertain'),
      remote: await ways.ended('asks-remote', 'uncertain'),
    };
    const question = ['--attempt', '1', '--effect', 'card', '--since', '2026-01-01T00:00:00.000Z'];
    await ordered((way) => ['resolve', asks[way], ...question, '--answer', 'done', '--result', '7', ...because]);
  });

  it('that is refused says why, with the same sentence', async () => {
    for (const args of [
      ['pause', 'nightly', '--until', '2020-01-01', '--reason', 'x'],
      ['retry', 'nightly@1', '--reason', 'x'],
      ['cancel', 'nightly@1', '--reason', 'x'],
      ['trigger', 'nihgtly', '--reason', 'x'],
    ]) {
      const [direct, remote] = [await ways.ask('direct', args), await ways.ask('remote', args)];
      expect(remote).toEqual(direct);
      expect(remote).toMatchObject({ code: 2, out: '' });
    }
  });

  it('is recorded with the name of the token', async () => {
    await ways.ask('remote', ['pause', 'nightly', '--reason', 'who is it'], { user: () => 'root' });
    const trail = ways.running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false });
    expect(await trail.list({ limit: 1 })).toMatchObject([
      { action: 'pause', by: 'otto', role: 'operator', reason: 'who is it', from: expect.stringMatching(/^api /) },
    ]);
  });

  it('backfills with the progress and the report of a direct one', async () => {
    const span = ['--from', '2024-06-01', '--to', '2026-06-01', '--reason', 'x', '--json'];
    const [direct, remote] = [
      await ways.ask('direct', ['backfill', 'asks-direct', ...span]),
      await ways.ask('remote', ['backfill', 'asks-remote', ...span]),
    ];
    expect([remote.code, remote.json]).toEqual([
      0,
      expect.objectContaining({ instants: 2, accepted: 2, aborted: false }),
    ]);
    const shown = ({ json, err }: Said, way: 'direct' | 'remote') => {
      const { open, runIds, ...report } = alike(json, way) as { open: string[]; runIds: string[] };
      const ids = [...open, ...runIds].map((id) => id.replace(`-${way}`, ''));
      return { report, ids, err: err.replaceAll(`-${way}`, '').replace(/, [\d.]+ per minute/, '') };
    };
    expect(shown(remote, 'remote')).toEqual(shown(direct, 'direct'));
    expect(remote.err).toMatch(/^asks-remote: 2 of 2 instants requested, 2 accepted, 2 still open/);
  });

  it('clears a lease of the fence that was seen, and no other, and removes a cron of that generation', async () => {
    const admin = { env: { ...ways.remote, FENCEPOST_TOKEN: SECRETS.admin } };
    const because = ['--reason', 'it is stuck', '--json'];
    const other = await ways.ask('remote', ['leases', 'clear', 'nightly', '--yes', '--fence', '1', ...because], admin);
    expect(other).toMatchObject({ code: 1, json: { verdict: 'moved', found: { cron: 'nightly' } } });
    const clear = ['leases', 'clear', 'nightly', '--yes', '--watch', '1s', ...because];
    const direct = await ways.ask('direct', clear);
    await until('the cron has a holder again', async () => {
      const { json: found } = await ways.ask('direct', ['leases', '--cron', 'nightly', '--json']);
      return (found as { held: unknown[] }).held.length === 1;
    });
    const remote = await ways.ask('remote', clear, admin);
    expect(remote.json).toMatchObject({ cron: 'nightly', verdict: 'cleared', cleared: { cron: 'nightly' } });
    const { watch } = remote.json as { watch: object };
    expect(Object.keys(watch)).toEqual(Object.keys((direct.json as { watch: object }).watch));
    expect(watch).toMatchObject({ cron: 'nightly', observations: [] });
    expect(remote.err).toContain('Watching for duplicates for 1 s');
    const late = await ways.ask('remote', ['remove', 'report', '--expected', '7', ...because], admin);
    expect(late).toMatchObject({ code: 1, json: { cron: 'report', verdict: 'moved', expected: 7, found: 1 } });
    const removed = await ways.ask('remote', ['remove', 'report', '--expected', '1', ...because], admin);
    expect(removed.json).toMatchObject({ cron: 'report', verdict: 'removed', by: 'anna', declaredBy: null });
  });
});

describe('the fencepost program', { timeout: 120_000 }, () => {
  const ROOT = join(import.meta.dirname, '../..');
  const PROGRAM = ['test/support/run-source.mjs', 'test/programs/fencepost.ts'];

  async function program(args: readonly string[], env: Readonly<Record<string, string>>) {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [...PROGRAM, ...args], { cwd: ROOT, env: { PATH, HOME, ...env } });
    child.stdin.end();
    const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
    return { code: code as number, out, err };
  }

  const RANGE = ['--to', '2026-03-05T00:00:00.000Z', '--reason', 'x'];

  /** A cron with 96 instants in the range, 50 of which stand in line at once, and a console that may fall silent. */
  async function backfilled(cron: string) {
    const { app } = ways.running;
    const hourly = { expression: '0 * * * *', timeZone: 'UTC', disabled: true };
    await app.get(CronCatalog, { strict: false }).set(cron, hourly, { by: 'test' });
    const proxy = await tcpProxy(Number(new URL(ways.running.url).port));
    onTestFinished(() => proxy.close());
    const at = { ...ways.remote, FENCEPOST_URL: `http://127.0.0.1:${proxy.port}/crons` };
    const args = [...PROGRAM, 'backfill', cron, '--from', '2026-03-01', ...RANGE];
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, args, { cwd: ROOT, env: { PATH, HOME, ...at } });
    const [out, closed] = [text(child.stdout), once(child, 'close')];
    const [line] = (await once(child.stderr, 'data')) as [Buffer];
    expect(String(line)).toBe(`${cron}: 50 of 96 instants requested, 50 accepted, 50 still open\n`);
    return { proxy, child, out, closed };
  }

  /** Runs that a worker carried out stand in no line. */
  async function goOn(cron: string, from: string) {
    const ledger = ways.running.app.get<Ledger>(LEDGER, { strict: false });
    const open = await ledger.runs(cron, 100);
    for (const { id } of open) await ledger.cancel(id, { by: 'test', graceMs: 0 });
    return program(['backfill', cron, '--from', from, ...RANGE, '--json'], ways.remote);
  }

  it('ends a backfill by way of a console at Ctrl-C with the command that goes on, and that one does the rest', async () => {
    const { child, out, closed } = await backfilled('stopped');
    child.kill('SIGINT');
    expect((await closed)[0]).toBe(1);
    const from = /fencepost backfill stopped --from (\S+) --to 2026-03-05T00:00:00.000Z --reason x\n$/.exec(
      await out,
    )?.[1];
    expect(from).toBe('2026-03-03T02:00:00.000Z');
    const rest = await goOn('stopped', from ?? '');
    expect(JSON.parse(rest.out)).toMatchObject({ instants: 46, accepted: 46, aborted: false });
  });

  it('says what a backfill had done when the connection to the console broke, and nothing of it is lost', async () => {
    const { proxy, child, closed } = await backfilled('cut-off');
    const said = text(child.stderr);
    await proxy.close();
    expect((await closed)[0]).toBe(3);
    expect(await said).toContain('could not be reached');
    expect(await said).toContain('Until then 50 of 96 instants had been requested, and 50 accepted.');
    const from = /repeat the command with --from (\S+)\.\n$/.exec(await said)?.[1];
    const rest = await goOn('cut-off', from ?? '');
    expect(JSON.parse(rest.out)).toMatchObject({ instants: 46, accepted: 46, aborted: false });
  });

  it('talks to a console with --url and --token, and prints the same', async () => {
    const at = ['--url', ways.remote['FENCEPOST_URL'] ?? '', '--token', SECRETS.viewer];
    const args = ['runs', 'nightly', '--json'];
    const [direct, remote] = [await ways.ask('direct', args), await program([...args, ...at], {})];
    expect(direct.out).not.toBe('');
    expect(remote).toEqual({ code: direct.code, out: direct.out, err: direct.err });
  });
});

describe('by way of a console, an order to all crons with a tag', { timeout: 60_000 }, () => {
  it('does what it does by way of the stores, and the name of the token is on record', async () => {
    const crons = ways.running.app.get(CronCatalog, { strict: false });
    for (const name of ['a-direct', 'a-remote']) {
      await crons.set(name, { expression: '0 3 1 1 *', tags: [name] }, { by: 'test' });
    }
    const order = (way: 'direct' | 'remote') =>
      ways.ask(way, ['pause', '--tag', `a-${way}`, '--for', '2h', '--yes', '--reason', 'a flood', '--json']);
    const [direct, remote] = [await order('direct'), await order('remote')];
    expect(direct).toMatchObject({ code: 0, json: { done: ['a-direct'], failed: [] } });
    expect(remote).toMatchObject({ code: 0, json: { done: ['a-remote'], failed: [] } });
    expect(remote.err).toBe(direct.err.replaceAll('direct', 'remote'));
    const shown = await ways.ask('remote', ['show', 'a-remote', '--json']);
    expect(shown.json).toMatchObject({ paused: { by: 'otto', until: expect.stringMatching(/Z$/) } });
    const trail = ways.running.app.get<AuditTrail>(AUDIT_TRAIL, { strict: false });
    expect(await trail.list({ limit: 2 })).toMatchObject([
      { action: 'pause', role: 'operator', cron: null, crons: ['a-remote'] },
      { action: 'pause', role: 'shell', cron: null, crons: ['a-direct'] },
    ]);
  });
});
