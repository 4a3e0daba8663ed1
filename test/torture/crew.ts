import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { Herd, Hold, Victim } from '../chaos/faults/victim.js';
import { Pod } from '../support/pod.js';

export interface Member {
  readonly name: string;
  readonly role: string;
  /** From the root of the repository. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Post {
  readonly member: Member;
  pod: Pod;
  isUp: boolean;
  isHeld: boolean;
}

const LOOK_MS = 20;
const FAILED_AGAIN_AFTER_MS = 500;
const IN_ORDER_WITHIN_MS = 20_000;

/** The processes of one peer. Each that ends is followed by another of its name, as an orchestrator has it. */
export class Crew implements Herd {
  readonly #posts: Post[] = [];
  readonly #stopping = new AbortController();
  readonly #kept: Promise<void>[] = [];

  constructor(private readonly members: readonly Member[]) {}

  /** Resolves when all of them work. */
  async start(signal: AbortSignal): Promise<void> {
    for (const member of this.members) this.#kept.push(this.#keep(member));
    await this.untilUp(signal);
  }

  async untilUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#posts.some(({ isUp }) => !isUp)) await sleep(systemClock, LOOK_MS, signal);
  }

  up(): readonly Victim[] {
    return this.#posts.filter(({ isUp, isHeld }) => isUp && !isHeld).map((post) => victimOf(post));
  }

  seize({ name }: Victim): Hold {
    const post = this.#post(name);
    post.isHeld = true;
    return { release: () => void (post.isHeld = false) };
  }

  /** SIGTERM, and waits until its successor works, as a rolling restart does before it takes the next. */
  async replace({ name }: Victim, signal: AbortSignal): Promise<void> {
    const post = this.#post(name);
    const { pod } = post;
    await endOf(pod);
    while (!signal.aborted && (post.pod === pod || !post.isUp)) await sleep(systemClock, LOOK_MS, signal);
  }

  /** Frees what stands still, and ends all: what they are at is carried through. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#posts.map(({ pod }) => endOf(pod)));
    await Promise.all(this.#kept);
  }

  /** What each said last, for somebody who has to understand it. */
  lastLines(): string {
    return this.#posts.map(({ pod }) => `${pod.name}:\n${pod.lastLines()}`).join('\n');
  }

  #post(name: string): Post {
    const post = this.#posts.find(({ member }) => member.name === name);
    if (!post) throw new Error(`Expected the name of a member of this crew, got ${name}.`);
    return post;
  }

  async #keep(member: Member): Promise<void> {
    const { signal } = this.#stopping;
    const post: Post = { member, pod: launch(member), isUp: false, isHeld: false };
    this.#posts.push(post);
    while (!signal.aborted) {
      const isReady = await post.pod.ready().then(
        () => true,
        () => false,
      );
      post.isUp = isReady;
      if (!isReady) await post.pod.kill();
      await post.pod.exited;
      post.isUp = false;
      if (!isReady) await sleep(systemClock, FAILED_AGAIN_AFTER_MS, signal);
      if (!signal.aborted) post.pod = launch(member);
    }
  }
}

function launch({ name, program, env }: Member): Pod {
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  if (!existsSync(file)) {
    throw new Error(`Expected the program ${program}, found none. Build it with: node scripts/build.mjs --pods.`);
  }
  return new Pod({ name, args: [file], env: { POD_NAME: name, PORT: '0', LOG_LEVEL: 'info', ...env } });
}

function victimOf({ member: { name, role }, pod }: Post): Victim {
  const send = (signal: NodeJS.Signals) => {
    if (pod.isAlive) pod.send(signal);
  };
  return { name, role, gone: pod.exited, send };
}

async function endOf(pod: Pod): Promise<void> {
  if (!pod.isAlive) return;
  pod.send('SIGCONT');
  pod.send('SIGTERM');
  const inTime = new AbortController();
  const late = sleep(systemClock, IN_ORDER_WITHIN_MS, inTime.signal);
  await Promise.race([pod.exited, late]);
  inTime.abort();
  await pod.kill();
}
