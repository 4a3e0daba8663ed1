import { checkResourceName } from '../base/resource.js';
import { partOf, redisChannel } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import { ALL_RELEASED } from '../store/lease-sessions.js';
import type { ZookeeperServer } from './zookeeper-client.js';
import { NODE_EXISTS, ZookeeperError } from './zookeeper-error.js';
import { create, remove } from './zookeeper-operations.js';
import type { Access, Operation } from './zookeeper-operations.js';

/** Where everything about one resource lies. */
export interface TermPaths {
  readonly term: string;
  readonly counter: string;
  /** Made and removed in one transaction to announce a release; a watch sees both. */
  readonly released: string;
}

/** Where everything lies. */
export class ZookeeperPaths {
  /** What is made below it announces. */
  readonly released: string;
  readonly #space: Readonly<Record<'term' | 'counter' | 'session', string>>;

  /** @throws {SetupError} for a prefix or tenant that can't be one */
  constructor(space: KeySpace, kind: LeaseKind | undefined) {
    const part = (name: string) => `/${redisChannel(space, partOf(kind, name)).replaceAll(':', '/')}`;
    this.released = part('released');
    this.#space = { term: part('lease'), counter: part('fence'), session: part('session') };
  }

  of(resource: string): TermPaths {
    const name = nodeName(checkResourceName(resource));
    const { term, counter } = this.#space;
    return { term: `${term}/${name}`, counter: `${counter}/${name}`, released: `${this.released}/${name}` };
  }

  session(nonce: string): string {
    return `${this.#space.session}/${nodeName(nonce)}`;
  }

  /** Announces that any resource may be free. */
  announceAll(access: Access): Operation[] {
    return announcement(`${this.released}/${nodeName(ALL_RELEASED)}`, access);
  }

  /** What an announcement names; nothing for the node above all of them. */
  announced(path: string): string | undefined {
    return path.startsWith(`${this.released}/`) ? decodeURIComponent(path.slice(this.released.length + 1)) : undefined;
  }

  /** Makes the nodes that all others lie below, unless they are there. */
  async make(server: ZookeeperServer, access: Access): Promise<void> {
    const connection = await server.shared();
    const parents = [this.released, ...Object.values(this.#space)].flatMap(ancestors);
    for (const path of new Set(parents)) {
      await connection.request(create({ path, data: '', access }), () => {}).catch(thereAlready);
    }
  }
}

export function announcement(path: string, access: Access): Operation[] {
  return [create({ path, data: '', access }), remove(path)];
}

/** A node's name holds no slash, is neither `.` nor `..`, and lacks the characters beyond 16 bits. */
function nodeName(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E');
}

/** `/a/b` gives `/a` and `/a/b`. */
function ancestors(path: string): string[] {
  const names = path.slice(1).split('/');
  return names.map((_, n) => `/${names.slice(0, n + 1).join('/')}`);
}

function thereAlready(error: unknown): void {
  if (!(error instanceof ZookeeperError) || error.status !== NODE_EXISTS) throw error;
}
