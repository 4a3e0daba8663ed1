import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { Leases, systemClock } from '@fencepost/lease';
import { EtcdLeaseStore } from '@fencepost/lease/etcd';
import { createLeaseTable, PostgresLeaseStore } from '@fencepost/lease/postgres';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { ZookeeperLeaseStore } from '@fencepost/lease/zookeeper';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { onPath } from '../../scripts/debian.mjs';
import { startPrivatePostgres } from '../../scripts/postgres.mjs';
import { startRedis } from '../../scripts/redis.mjs';
import { askEtcd, privateEtcd } from '../../test/support/etcd.js';
import { privateZookeeper } from '../../test/support/zookeeper.js';
import { openBareQuorum } from '../lease/bare-redis.mjs';
import { openQuorum } from '../lease/fencepost.mjs';
import { TTL_MS } from '../lease/settings.mjs';

const QUORUM = 3;
/** A thousand leases, one by one, take their time. */
const PATIENT = { timeoutMs: 120_000 };
const SPACE = { prefix: 'bench', tenant: 'stores' };

/**
 * Each starts a server of its own and resolves to `acquire`, which resolves to a function that releases, to `bare`, the least
 * that the server can be asked for the same, if there is such a thing, and to `close`; and for renewals to `store`, to `touch`,
 * the least that extends one thing, and to `requests`, how many the server has been sent.
 */
export const OPEN = {
  memory: async () => over(new MemoryLeaseStore({ clock: systemClock }), {}),
  async redis() {
    const server = await privateRedis();
    const redis = new Redis(server.url);
    const close = () => (redis.disconnect(), server.stop());
    const bare = () => redis.set(`bare:${randomUUID()}`, 'held', 'PX', TTL_MS, 'NX');
    await redis.set('touched', 'held');
    const touch = () => redis.pexpire('touched', TTL_MS);
    // With those that scripts call.
    const requests = async () =>
      Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]) - (infos += 1);
    let infos = 0;
    return over(new RedisLeaseStore({ redis, ...SPACE }), { bare, touch, requests, close });
  },
  async quorum() {
    const servers = await Promise.all(Array.from({ length: QUORUM }, privateRedis));
    const where = { urls: servers.map(({ url }) => url), prefix: SPACE.prefix };
    const [ours, bare] = [await openQuorum(where), openBareQuorum({ ...where, prefix: 'bare' })];
    const acquire = async (resource) => {
      const lease = await ours.tryOnce(0, resource);
      return () => lease.release();
    };
    const close = async () => {
      await ours.close();
      bare.close();
      await Promise.all(servers.map((server) => server.stop()));
    };
    return { acquire, bare: () => bare.tryOnce(0, randomUUID()), close };
  },
  async postgres() {
    const server = await startPrivatePostgres();
    const client = new Pool({ connectionString: server.url });
    await createLeaseTable(client);
    await client.query('CREATE TABLE bare (resource text PRIMARY KEY, holder text)');
    const bare = () => client.query('INSERT INTO bare VALUES ($1, $2) ON CONFLICT DO NOTHING', [randomUUID(), 'held']);
    await client.query("INSERT INTO bare VALUES ('touched', 'held')");
    const touch = () => client.query("UPDATE bare SET holder = 'held' WHERE resource = 'touched'");
    let sent = 0;
    const counted = { connect: () => client.connect(), query: (query) => ((sent += 1), client.query(query)) };
    const close = () => client.end().then(server.stop);
    return over(new PostgresLeaseStore({ client: counted, ...SPACE }), {
      bare,
      touch,
      requests: async () => sent,
      close,
    });
  },
  async etcd() {
    const server = await privateEtcd();
    const bare = () => {
      const [key, value] = [btoa(randomUUID()), btoa('held')];
      const compare = [{ key, target: 'CREATE', createRevision: '0' }];
      return askEtcd(server, 'kv/txn', { compare, success: [{ requestPut: { key, value } }] });
    };
    const { ID } = await askEtcd(server, 'lease/grant', { TTL: '600' });
    const touch = () => askEtcd(server, 'lease/keepalive', { ID });
    let sent = 0;
    const counted = (input, init) => ((sent += 1), fetch(input, init));
    const store = new EtcdLeaseStore({ endpoints: [server.endpoint], ...SPACE, ...PATIENT, fetch: counted });
    return over(store, { bare, touch, requests: async () => sent, close: () => server.stop() });
  },
  async zookeeper() {
    const server = await privateZookeeper();
    let sent = 0;
    // Each is one packet.
    const counted = ({ host, port }) => {
      const socket = connect(port, host);
      const write = socket.write.bind(socket);
      return Object.assign(socket, { write: (bytes) => ((sent += 1), write(bytes)) });
    };
    const store = new ZookeeperLeaseStore({ servers: [server.address], ...SPACE, ...PATIENT, connect: counted });
    const bare = () => roundTrip(server.port);
    return over(store, { bare, touch: bare, requests: async () => sent, close: () => server.stop() });
  },
};

/** Why a store can't be measured here, or nothing. */
export function excuseOf(name) {
  return name === 'zookeeper' && !onPath('java') ? 'skipped: needs java' : undefined;
}

/** Whatever the environment says: a shared one would be measured with everything else it does. */
function privateRedis() {
  delete process.env.REDIS_URL;
  return startRedis({ log: (line) => console.error(line) });
}

function over(store, { bare, touch, requests, close = async () => {} }) {
  const leases = new Leases({ store, ttl: TTL_MS });
  const acquire = async (resource) => {
    const lease = await leases.tryAcquire(resource);
    return () => lease.release();
  };
  return { acquire, bare, store, touch, requests, close: () => leases.close().then(close) };
}

/** A connection, a word and its answer: what a session costs at the least. */
function roundTrip(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write('srvr'));
    socket.on('error', reject).once('data', () => resolve(socket.destroy()));
  });
}
