import { connect as connectTcp, type Socket } from 'node:net';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureFile, ensureProgram } from '../../scripts/debian.mjs';
import { freePort } from '../../scripts/redis.mjs';
import { serverFolder, serverProcess, type Freezable, type ServerProcess } from './server-process.js';

export interface PrivateZookeeper extends Freezable {
  /** `host:port` of the client's side. */
  readonly address: string;
  readonly port: number;
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
  readonly id: number;
  readonly folder: string;
  readonly port: number;
  readonly quorum: number;
  readonly election: number;
}

/** Sessions of 2 ticks and more: terms end soon. */
const TICK_MS = 100;

/** A server for one spec to freeze, kill and restart. `settings` are lines of zoo.cfg. */
export async function privateZookeeper(settings: readonly string[] = []): Promise<PrivateZookeeper> {
  const [server] = await privateEnsemble(1, settings);
  if (!server) throw new Error('Expected one server.');
  return server;
}

/** Servers that elect one of them. Resolves when all of them serve clients. */
export async function privateEnsemble(size: number, settings: readonly string[] = []): Promise<PrivateZookeeper[]> {
  const members = await Promise.all(Array.from({ length: size }, (_, n) => newMember(n + 1)));
  return Promise.all(members.map((member) => startMember(member, [...configuration(member, members), ...settings])));
}

async function newMember(id: number): Promise<Member> {
  const [port, quorum, election] = [await freePort(), await freePort(), await freePort()];
  return { id, folder: serverFolder('test-zookeeper-'), port, quorum, election };
}

/** Nothing of this is to survive a loss of power. */
function configuration({ folder, port }: Member, members: readonly Member[]): string[] {
  const peers = members.map(({ id, quorum, election }) => `server.${id}=127.0.0.1:${quorum}:${election}`);
  return [
    `tickTime=${TICK_MS}`,
    'initLimit=50',
    'syncLimit=10',
    `dataDir=${join(folder, 'data')}`,
    'clientPortAddress=127.0.0.1',
    `clientPort=${port}`,
    'maxClientCnxns=0',
    'maxSessionTimeout=200000',
    'admin.enableServer=false',
    '4lw.commands.whitelist=srvr,dump',
    ...(members.length > 1 ? peers : []),
  ];
}

async function startMember(member: Member, config: readonly string[]): Promise<PrivateZookeeper> {
  const { folder, port } = member;
  writeFileSync(join(folder, 'zoo.cfg'), `${config.join('\n')}\n`);
  makeData(member);
  let server = await start(member);
  const restart = async () => {
    server = await start(member);
  };
  return {
    address: `127.0.0.1:${port}`,
    port,
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    kill: () => server.end('keep'),
    start: restart,
    restartEmpty: async () => {
      await server.end('keep');
      rmSync(join(folder, 'data'), { recursive: true });
      makeData(member);
      await restart();
    },
    stop: async () => {
      await server.end();
      // One that was killed before kept it.
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeData({ folder, id }: Member): void {
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data', 'myid'), `${id}\n`);
}

/** What ZooKeeper needs of Debian's packages beside itself. */
const JARS = ['zookeeper', 'zookeeper-jute', 'slf4j-api', 'metrics-core', 'snappy-java', 'commons-cli', 'commons-io'];
const NETTY = ['buffer', 'common', 'handler', 'transport', 'transport-native-epoll', 'resolver', 'codec'];

async function start(member: Member): Promise<ServerProcess> {
  const { command, env } = await ensureProgram('java', { package: 'default-jre-headless' });
  const { path } = await ensureFile('/java/zookeeper.jar', { package: 'libzookeeper-java' });
  const jars = [...JARS, ...NETTY.map((name) => `netty-${name}`)].map((name) => join(dirname(path), `${name}.jar`));
  const small = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];
  const quick = ['-Dzookeeper.forceSync=no', '-Dzookeeper.electionPortBindRetry=0'];
  const main = ['org.apache.zookeeper.server.quorum.QuorumPeerMain', 'zoo.cfg'];
  const args = [...small, ...quick, '-cp', jars.join(':'), ...main];
  const server = await serverProcess({ command, args, cwd: member.folder, env });
  try {
    await untilServing(member.port);
    return server;
  } catch (error) {
    await server.end();
    throw error;
  }
}

const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 20;

async function untilServing(port: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!/^Mode: /m.test(await askZookeeper(port, 'srvr').catch(() => ''))) {
    if (performance.now() > deadline) throw new Error(`The private ZooKeeper at port ${port} did not start.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** One of ZooKeeper's four-letter words, past the store. */
function askZookeeper(port: number, word: 'srvr' | 'dump'): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connectTcp(port, '127.0.0.1', () => void socket.write(word));
    socket.setTimeout(1_000, () => socket.destroy(new Error(`ZooKeeper did not answer ${word}.`)));
    socket.on('data', (bytes) => (said += bytes.toString())).on('error', reject);
    socket.on('close', () => resolve(said));
  });
}

/** The ids of the sessions that the server counts as live, in the order of the ids: its own changes with each renewal. */
export async function sessionsOf({ port }: PrivateZookeeper): Promise<string[]> {
  const said = await askZookeeper(port, 'dump');
  const [live = ''] = said.split('Sessions with Ephemerals');
  return (live.match(/(?<=^\t)0x\w+/gm) ?? []).toSorted();
}

/** The server that leads, and the others. */
export async function byRole(
  ensemble: readonly PrivateZookeeper[],
): Promise<{ readonly leader: PrivateZookeeper; readonly followers: PrivateZookeeper[] }> {
  const said = await Promise.all(ensemble.map(({ port }) => askZookeeper(port, 'srvr').catch(() => '')));
  const leader = ensemble[said.findIndex((text) => text.includes('Mode: leader'))];
  if (!leader) throw new Error('Expected the ensemble to have a leader.');
  return { leader, followers: ensemble.filter((server) => server !== leader) };
}

/** `connect` with something happening before the first packet that holds `text` is sent: a delay at the worst moment. */
export function connectAfter(text: string, happening: () => Promise<unknown>) {
  let waiting = true;
  return (address: { readonly host: string; readonly port: number }): Socket => {
    const socket = connectTcp(address);
    const write = socket.write.bind(socket);
    socket.write = (bytes: Uint8Array | string) => {
      const packet = Buffer.from(bytes);
      if (!waiting || !packet.includes(text)) return write(packet);
      waiting = false;
      void happening().then(() => write(packet));
      return true;
    };
    return socket;
  };
}

/** Where a `ConnectRequest` names the session to continue: behind its length, a version, a zxid and a timeout. */
const SESSION_AT = 20;
const PASSWORD_LENGTH = 16;
const HELLO_LENGTH = SESSION_AT + 8 + 4 + PASSWORD_LENGTH + 1;

/** `connect` in front of servers that open a new session wherever one should be continued, as some that are not ZooKeeper do. */
export function connectAnew(address: { readonly host: string; readonly port: number }): Socket {
  const socket = connectTcp(address);
  const write = socket.write.bind(socket);
  socket.write = (bytes: Uint8Array | string) => {
    const packet = Buffer.from(bytes);
    if (packet.length === HELLO_LENGTH) packet.fill(0, SESSION_AT, SESSION_AT + 8);
    return write(packet);
  };
  return socket;
}
