import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SUPERVISOR = fileURLToPath(new URL('../../apps/demo/dist/supervisor.js', import.meta.url));
/** Listens as a pod does, and says where. */
const POD = `import { createServer } from 'node:net';
const server = createServer().listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listens on ' + server.address().port));`;

interface Started {
  readonly report: string;
  readonly log: string;
}

describe('the supervisor of the demo', () => {
  let folder: string;
  let other: Server;
  let supervisor: ChildProcess;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'fencepost-port-'));
    other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    supervisor = fork(SUPERVISOR, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  });

  afterEach(async () => {
    const ended = once(supervisor, 'exit');
    supervisor.disconnect();
    await ended;
    other.close();
    rmSync(folder, { recursive: true });
  });

  it('starts a pod on another port where the one that was free has been bound meanwhile', async () => {
    const program = join(folder, 'pod.mjs');
    writeFileSync(program, POD);
    const taken = (other.address() as AddressInfo).port;
    const reports: Started[] = [];
    supervisor.on('message', (report: Started) => reports.push(report));
    const env = { PORT: `${taken}` };
    supervisor.send({ order: 'start', name: 'scheduler-1', program, env, log: join(folder, 'scheduler-1') });
    const said = () => reports.map(({ log }) => readFileSync(log, 'utf8')).join('');
    await expect.poll(said).toMatch(/listens on \d+/);
    expect(said()).not.toContain(`listens on ${taken}\n`);
    expect(reports.map(({ report }) => report)).toEqual(['started', 'started']);
  });
});
