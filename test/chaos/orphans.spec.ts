import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';

const RUNNER = new URL('../support/run-source.mjs', import.meta.url).pathname;
const PARENT = new URL('./parent-of-idlers.ts', import.meta.url).pathname;

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('a process that was started for a test outlives nobody, not even when it is frozen', async () => {
  const parent = spawn(process.execPath, [RUNNER, PARENT], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(parent, 'exit');
  const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
  const pids = JSON.parse(line) as number[];
  expect(pids.map(isThere)).toEqual([true, true]);
  parent.kill('SIGKILL');
  await ended;
  try {
    await expect.poll(() => pids.map(isThere), { timeout: 10_000 }).toEqual([false, false]);
  } finally {
    // Or the proof that they stay would stay itself.
    for (const pid of pids.filter(isThere)) process.kill(pid, 'SIGKILL');
  }
});
