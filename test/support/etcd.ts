import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureProgram } from '../../scripts/debian.mjs';
import { freePort } from '../../scripts/redis.mjs';
import { serverProcess, type Freezable, type ServerProcess } from './server-process.js';

export interface PrivateEtcd extends Freezable {
  readonly endpoint: string;
  /** Changes with a restart. */
  readonly pid: number;
  /** SIGKILL; the data stays. */
  kill(): Promise<void>;
  /** A new process on the same port, with what is there of the data. */
  start(): Promise<void>;
  /** SIGKILL, and a new process on the same port that knows nothing. */
  restartEmpty(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly folder: string;
  readonly client: string;
  readonly peer: string;
}

/** A server for one spec to freeze, kill and restart. */
export async function privateEtcd(): Promise<PrivateEtcd> {
  const [member] = await privateEtcdCluster(1);
  if (!member) throw new Error('Expected one member.');
  return member;
}

/** Members that elect one of them. Resolves when all of them answer. */
export async function privateEtcdCluster(size: number): Promise<PrivateEtcd[]> {
  const members = await Promise.all(Array.from({ length: size }, (_, n) => newMember(`m${n}`)));
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',');
  return Promise.all(members.map((member) => startMember(member, cluster)));
}

async function newMember(name: string): Promise<Member> {
  const address = async () => `http://127.0.0.1:${await freePort()}`;
  return { name, folder: mkdtempSync(join(tmpdir(), 'test-etcd-')), client: await address(), peer: await address() };
}

async function startMember(member: Member, cluster: string): Promise<PrivateEtcd> {
  let server = await start(member, cluster);
  const data = join(member.folder, 'data');
  const restart = async () => {
    server = await start(member, cluster);
  };
  return {
    endpoint: member.client,
    get pid() {
      return server.pid;
    },
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    kill: () => server.end('keep'),
    start: restart,
    restartEmpty: async () => {
      await server.end('keep');
      rmSync(data, { recursive: true });
      await restart();
    },
    stop: async () => {
      await server.end();
      // A member that was killed before kept it.
      rmSync(member.folder, { recursive: true, force: true });
    },
  };
}

async function start(member: Member, cluster: string): Promise<ServerProcess> {
  const { command, env } = await ensureProgram('etcd', { package: 'etcd-server', service: 'etcd' });
  const server = await serverProcess({ command, args: argumentsOf(member, cluster), cwd: member.folder, env });
  try {
    await untilHealthy(member);
    return server;
  } catch (error) {
    await server.end();
    throw error;
  }
}

/** Elections are quick on one machine, and nothing of this is to survive a loss of power. */
function argumentsOf({ name, client, peer }: Member, cluster: string): string[] {
  const settings = {
    name,
    'data-dir': 'data',
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': cluster,
    'heartbeat-interval': '50',
    'election-timeout': '500',
    logger: 'zap',
    'log-level': 'error',
  };
  return [...Object.entries(settings).map(([key, value]) => `--${key}=${value}`), '--unsafe-no-fsync'];
}

const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 20;

async function untilHealthy({ client }: Member): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const health = await fetch(`${client}/health`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (health?.ok && ((await health.json()) as { health: string }).health === 'true') return;
    if (performance.now() > deadline) throw new Error(`The private etcd at ${client} did not start.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** Asks etcd itself, past the store. A `token` in the body goes where it belongs. */
export async function askEtcd(
  etcd: PrivateEtcd,
  path: string,
  { token, ...body }: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const headers = typeof token === 'string' ? { authorization: token } : {};
  const response = await fetch(`${etcd.endpoint}/v3/${path}`, { method: 'POST', body: JSON.stringify(body), headers });
  if (!response.ok) throw new Error(`etcd refused ${path}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** How many leases etcd has, those that no key hangs on included. */
export async function countLeases(etcd: PrivateEtcd): Promise<number> {
  const { leases = [] } = (await askEtcd(etcd, 'lease/leases')) as { leases?: unknown[] };
  return leases.length;
}

/** The member that leads, and the others. */
export async function byRole(
  cluster: readonly PrivateEtcd[],
): Promise<{ readonly leader: PrivateEtcd; readonly followers: PrivateEtcd[] }> {
  const isLeader = async (member: PrivateEtcd) => {
    const { leader, header } = await askEtcd(member, 'maintenance/status');
    return (header as { member_id: string }).member_id === leader;
  };
  const leading = await Promise.all(cluster.map(isLeader));
  const leader = cluster[leading.indexOf(true)];
  if (!leader) throw new Error('Expected the cluster to have a leader.');
  return { leader, followers: cluster.filter((member) => member !== leader) };
}
