import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach } from 'vitest';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { Pod } from '../support/pod.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

const PROGRAM = 'test/dist/pods/coordinator.js';

/** Processes that coordinate over one key space, seen from outside. */
export class Coordinators {
  prefix = '';
  readonly pods: Pod[] = [];
  #redis: Redis | undefined;

  get redis(): Redis {
    if (!this.#redis) throw new Error('Expected to be used inside of a test, after its beforeEach.');
    return this.#redis;
  }

  async open(): Promise<void> {
    this.prefix = freshPrefix();
    this.#redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 5_000, name: 'test' });
  }

  /** @param env of `test/pods/coordinator.ts` */
  start(name: string, env: Readonly<Record<string, string>>): Pod {
    const file = fileURLToPath(new URL(`../../${PROGRAM}`, import.meta.url));
    if (!existsSync(file)) {
      throw new Error(`Expected the program ${PROGRAM}, found none. Build it with: node scripts/build.mjs --pods.`);
    }
    const common = { REDIS_URL: testRedis(), FENCEPOST_PREFIX: this.prefix, POD_NAME: name };
    const pod = new Pod({ name, args: [file], env: { ...common, ...env } });
    this.pods.push(pod);
    return pod;
  }

  /** Lets whoever waits in front of it through, and whoever comes later. */
  async openGate(step: string): Promise<void> {
    await this.redis.set(`${this.prefix}:open:${step}`, '1');
  }

  /** Kills what is left and forgets the key space. */
  async close(tellLines: boolean): Promise<void> {
    const pods = this.pods.splice(0);
    await Promise.all(pods.filter(({ isAlive }) => isAlive).map((pod) => pod.kill()));
    if (tellLines) for (const pod of pods) console.error(`${pod.name}:\n${pod.lastLines()}`);
    await clearPrefixes(this.redis, [this.prefix]);
    await closeRedis(this.redis);
  }
}

/** For the tests of a file, each with a key space of its own. */
export function useCoordinators(): Coordinators {
  const coordinators = new Coordinators();
  beforeEach(() => coordinators.open());
  afterEach(({ task }) => coordinators.close(task.result?.state === 'fail'));
  return coordinators;
}
