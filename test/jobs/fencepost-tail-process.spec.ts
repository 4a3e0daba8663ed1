import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RedisJournal } from '../../libs/operations/src/journal/redis-journal.js';
import { happened } from '../contracts/journal.contract.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = ['test/support/run-source.mjs', 'test/programs/fencepost.ts'];
const spaces = redisSpaces();

/** The program, which has shown its first line. */
async function tailing() {
  const space = spaces.fresh();
  const journal = new RedisJournal({ redis: spaces.redis(), ...space });
  await journal.append([happened('lease.lost')]);
  const where = ['--redis', testRedis(), '--prefix', space.prefix, '--tenant', space.tenant];
  const child = spawn(process.execPath, [...PROGRAM, 'tail', '--json', '--since', '1h', ...where], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (text: Buffer) => void (err += String(text)));
  const closed = once(child, 'close');
  const [line] = (await Promise.race([once(child.stdout, 'data'), closed])) as [unknown];
  expect(String(line), err).toContain('"lease.lost"');
  const ended = closed.then(([code, signal]) => ({ code: code as unknown, signal: signal as unknown, err }));
  return { child, journal, ended };
}

const IN_ORDER = { code: 0, signal: null, err: '' };

describe('the fencepost program that shows what happens', { timeout: 120_000 }, () => {
  it('ends in order at Ctrl-C', async () => {
    const { child, ended } = await tailing();
    child.kill('SIGINT');
    expect(await ended).toEqual(IN_ORDER);
  });

  it('ends in order when nobody reads on, as behind "head"', async () => {
    const { child, journal, ended } = await tailing();
    child.stdout.destroy();
    await journal.append([happened('lease.lost')]);
    expect(await ended).toEqual(IN_ORDER);
  });
});
