import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { declared, FencepostDeployment, fencepost } from '../support/fencepost.js';
import { redisSpaces } from '../jobs/redis-space.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = ['test/support/run-source.mjs', 'test/programs/fencepost.ts'];
const RANGE = ['--from', '2026-03-01', '--to', '2026-03-05', '--reason', "the disk's end"];
const HOUR = 3_600_000;
const spaces = redisSpaces();

/** A cron of every hour whose runs stand in line, made today, that has never fired. */
function deployment(over: Parameters<typeof declared>[2] = {}) {
  const space = { redis: spaces.redis(), ...spaces.fresh(), tenant: 'default' };
  return FencepostDeployment.of(space, [declared('hourly', '0 * * * *', over)]);
}

/** A worker carries out all that is open. */
async function workOff({ ledger }: FencepostDeployment): Promise<void> {
  for (const { id, state } of (await ledger.runs('hourly', 1_000)).toReversed()) {
    if (state !== 'enqueued' && state !== 'claimed') continue;
    const [runId, nonce] = [id, `n-${id}`];
    const begun = await ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
    if (begun.verdict !== 'begun') throw new Error(`Expected to begin, got ${begun.verdict}.`);
    await ledger.finish({ runId, nonce, fence: begun.fence }, { kind: 'succeeded' });
  }
}

describe('fencepost backfill of more than the line of a cron takes', { timeout: 120_000 }, () => {
  it('says how far it has come, ends at Ctrl-C with the command that goes on, and that command does the rest', async () => {
    const at = await deployment();
    const env = { ...process.env, ...at.env };
    const child = spawn(process.execPath, [...PROGRAM, 'backfill', 'hourly', ...RANGE], { cwd: ROOT, env });
    const [out, closed] = [text(child.stdout), once(child, 'close')];
    const [line] = (await once(child.stderr, 'data')) as [Buffer];
    expect(String(line)).toMatch(/^hourly: 50 of 96 instants requested, 50 accepted, 50 still open\n/);
    child.kill('SIGINT');
    expect((await closed)[0]).toBe(1);
    const command = /fencepost (backfill hourly .*)\n$/.exec(await out)?.[1] ?? '';
    expect(command).toBe(
      String.raw`backfill hourly --from 2026-03-03T02:00:00.000Z --to 2026-03-05T00:00:00.000Z --reason 'the disk'\''s end'`,
    );
    await workOff(at);
    const rest = ['backfill', 'hourly', '--from', '2026-03-03T02:00:00.000Z', ...RANGE.slice(2), '--json'];
    expect((await fencepost(rest, { env: at.env })).json).toMatchObject({ instants: 46, accepted: 46, nextFrom: null });
  });
});

describe('the progress of a backfill', () => {
  it('is one line that is rewritten at a terminal, and a line now and then elsewhere', async () => {
    const said = async (errTerminal: boolean) => {
      const at = await deployment({ overlap: 'allow' });
      let now = 0;
      const around = { env: at.env, errTerminal, now: () => (now += 300) };
      return (await fencepost(['backfill', 'hourly', ...RANGE], around)).err;
    };
    const [before, first, last] = (await said(true)).split('\r\u001B[2K');
    expect([before, first]).toEqual(['', expect.stringMatching(/^hourly: 50 of 96 .* remaining$/)]);
    expect(last).toMatch(/^hourly: 96 of 96 .* per minute\n$/);
    expect(await said(false)).toMatch(/^hourly: 50 of 96 [^\n]*\nhourly: 96 of 96 [^\n]*\n$/);
  });

  it('is estimated by a dry run from how long earlier runs took', async () => {
    const at = await deployment();
    const before = await at.ask('backfill', 'hourly', ...RANGE, '--dry-run');
    expect(before.out).toContain('No estimate of the duration');
    await at.claimed('hourly', Date.now() - (Date.now() % HOUR));
    await workOff(at);
    const { json } = await at.json('backfill', 'hourly', ...RANGE, '--dry-run');
    expect(json).toMatchObject({ dryRun: true, accepted: 96, estimateMs: expect.any(Number) as number });
    expect((await at.ask('backfill', 'hourly', ...RANGE, '--dry-run')).out).toContain('Estimated from earlier runs');
  });
});

describe('a cron that has never fired', () => {
  it('is backfilled up to when it was made, and what comes after is the schedule’s own', async () => {
    const at = await deployment({ overlap: 'allow' });
    const [now, day] = [Date.now(), 24 * HOUR];
    const range = ['--from', new Date(now - day).toISOString(), '--to', new Date(now + 2 * HOUR).toISOString()];
    const { json } = await at.json('backfill', 'hourly', ...range, '--reason', 'x');
    expect(json).toMatchObject({ instants: 26, accepted: 24, left: { ahead: 2 } });
    expect((await at.ledger.readCron('hourly')).cursor).toBeNull();
  });
});
