import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverFolder, serverProcess, type ServerProcess } from './server-process.js';

/** Threads that are never idle, as those of a server that many ask. */
const BUSY = `const { Worker } = require('node:worker_threads');
for (let n = 0; n < 3; n += 1) new Worker('setInterval(() => { for (const end = Date.now() + 20; Date.now() < end; ); })', { eval: true });
setTimeout(() => console.log('ready'), 100);`;

const statesOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0];
  });

describe.runIf(process.platform === 'linux')('a server that was frozen', () => {
  let server: ServerProcess;

  beforeAll(async () => {
    const program = {
      command: process.execPath,
      args: ['-e', BUSY],
      cwd: serverFolder('test-frozen-'),
      env: process.env,
    };
    server = await serverProcess({ ...program, ready: /^ready$/m });
  });
  afterAll(() => server.end());

  it('runs no thread any more, and goes on when it is thawed', async () => {
    for (let n = 0; n < 20; n += 1) {
      server.freeze();
      expect(new Set(statesOf(server.pid))).toEqual(new Set(['T']));
      server.thaw();
      await expect.poll(() => statesOf(server.pid)).not.toContain('T');
    }
  });
});
