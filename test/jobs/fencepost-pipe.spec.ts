import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = ['test/support/run-source.mjs', 'test/programs/fencepost.ts'];

describe('the fencepost program', { timeout: 120_000 }, () => {
  it('ends in order when nobody reads on, as behind "head"', async () => {
    const args = [...PROGRAM, 'next', '* * * * * *', '-n', '100000'];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [[code, signal], err] = await ended;
    expect({ code: code as unknown, signal: signal as unknown, err }).toEqual({ code: 0, signal: null, err: '' });
  });
});
