import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { RedisLeaseStore, closeRedis, connectRedis } from '@fencepost/lease/redis';
import type { WallClock, WallClocks } from '../support/faketime.js';
import type { LeaseBook, Snapshot } from './lease-book.js';
import { CLIENTS, type Fault, type LeaseWorld } from './lease-commands.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';
import { tcpProxy } from '../support/proxies.js';

/** A server with a clock and a folder of its own. */
interface Node {
  readonly server: PrivateRedis;
  readonly clock: WallClock;
  readonly folder: string;
  /** For what an operator does. */
  readonly admin: Redis;
}

const QUICK = { 'repl-diskless-sync-delay': '0', 'repl-ping-replica-period': '1' };

/** Several clients of one Redis, which loses its data, its clock, its connections and its life. */
export class RedisLeaseWorld implements LeaseWorld {
  readonly #clocks: WallClocks;
  #primary: Node;
  #clients: Redis[] = [];
  #run = 0;
  #saved: Snapshot | undefined;
  #lagging: { readonly node: Node; readonly has: Snapshot } | undefined;

  private constructor(clocks: WallClocks, primary: Node) {
    this.#clocks = clocks;
    this.#primary = primary;
  }

  static async open(clocks: WallClocks): Promise<RedisLeaseWorld> {
    const world = new RedisLeaseWorld(clocks, await startNode(clocks));
    await world.#connect();
    return world;
  }

  /** For the next run: nothing is stored, and the clock is right. */
  async fresh(): Promise<void> {
    await this.#dropLagging();
    this.#forgetSaved();
    this.#primary.clock.setAhead(0);
    await this.#primary.admin.flushall();
    this.#run += 1;
  }

  async close(): Promise<void> {
    await this.#dropLagging();
    await Promise.all(this.#clients.map(closeRedis));
    await stopNode(this.#primary);
  }

  store(client: number): RedisLeaseStore {
    return new RedisLeaseStore({ redis: this.#clients[client]!, prefix: 'p', tenant: `run-${this.#run}` });
  }

  now(): number {
    return this.#primary.clock.now();
  }

  step(ms: number): void {
    this.#primary.clock.step(ms);
  }

  readonly faults = {
    FLUSHALL: async (book) => {
      await this.#primary.admin.flushall();
      book.forget();
    },
    'SCRIPT FLUSH': () => this.#primary.admin.script('FLUSH'),
    'CLIENT KILL': () => this.#primary.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
    SAVE: async (book) => {
      await this.#primary.admin.save();
      this.#saved = book.snapshot(this.now());
    },
    restart: async (book) => {
      await this.#primary.server.restartEmpty();
      book.restore(this.#saved ?? new Map());
      await this.#answers();
    },
    'restart empty': async (book) => {
      this.#forgetSaved();
      await this.#primary.server.restartEmpty();
      book.forget();
      await this.#answers();
    },
    'a replica falls behind': (book) => this.#fallBehind(book),
    failover: async (book) => {
      const { node, has } = this.#lagging ?? (await this.#fallBehind(book));
      this.#lagging = undefined;
      await node.admin.replicaof('NO', 'ONE');
      const [old, clients] = [this.#primary, this.#clients];
      this.#primary = node;
      // What it got from its primary is in its folder, too.
      this.#saved = has;
      book.restore(has);
      await this.#connect();
      await Promise.all(clients.map(closeRedis));
      await stopNode(old);
    },
  } satisfies Record<string, Fault>;

  /** A replica that has all there is now, and will hear of nothing more. Its clock may be another one's. */
  async #fallBehind(book: LeaseBook): Promise<{ readonly node: Node; readonly has: Snapshot }> {
    await this.#dropLagging();
    const link = await tcpProxy(this.#primary.server.port);
    const node = await startNode(this.#clocks);
    // Said to it and not set: when it is the primary, and restarted, it stays one.
    await node.admin.replicaof('127.0.0.1', link.port);
    const role = () => node.admin.info('replication');
    await expect.poll(role, { interval: 5, timeout: 10_000 }).toContain('master_link_status:up');
    // Whatever was written before is there once this is.
    await this.#primary.admin.incr('written');
    await expect.poll(() => this.#primary.admin.wait(1, 100), { interval: 5, timeout: 10_000 }).toBe(1);
    await link.close();
    this.#lagging = { node, has: book.snapshot(this.now()) };
    return this.#lagging;
  }

  async #connect(): Promise<void> {
    const settings = { url: this.#primary.server.url, commandTimeoutMs: 5_000, name: 'test', random: () => 0 };
    this.#clients = await Promise.all(Array.from({ length: CLIENTS }, () => connectRedis(settings)));
  }

  async #answers(): Promise<void> {
    await Promise.all([this.#primary.admin, ...this.#clients].map((redis) => redis.ping()));
  }

  async #dropLagging(): Promise<void> {
    if (this.#lagging) await stopNode(this.#lagging.node);
    this.#lagging = undefined;
  }

  #forgetSaved(): void {
    rmSync(join(this.#primary.folder, 'dump.rdb'), { force: true });
    this.#saved = undefined;
  }
}

async function startNode(clocks: WallClocks): Promise<Node> {
  const folder = mkdtempSync(join(tmpdir(), 'test-redis-data-'));
  const clock = clocks.clock();
  const server = await privateRedis({ ...QUICK, dir: folder }, clock.env);
  const admin = new Redis(server.url, { retryStrategy: () => 10 });
  // It goes with each restart.
  admin.on('error', () => {});
  return { server, clock, folder, admin };
}

async function stopNode({ server, admin, folder }: Node): Promise<void> {
  await closeRedis(admin);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
