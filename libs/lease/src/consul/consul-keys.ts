import { checkResourceName } from '../base/resource.js';
import { partOf, redisChannel } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import { ALL_RELEASED } from '../store/lease-sessions.js';

/** The keys of one resource. */
export interface ResourceKeys {
  /** What both of its keys begin with, and no other one. */
  readonly all: string;
  readonly term: string;
  readonly counter: string;
  /** There since the last release, until the next term begins. */
  readonly released: string;
}

/** The keys of one session, all locked by it. */
export interface SessionKeys {
  /** What they begin with, and no other one. */
  readonly all: string;
  readonly own: string;
  /** What the keys of the terms that were taken from it begin with; their values are the nonces. */
  readonly notes: string;
}

/** Where everything lies. */
export class ConsulKeys {
  /** What is set below it announces. */
  readonly released: string;
  /** Set anew each time any resource may be free. */
  readonly allReleased: string;
  readonly #terms: string;
  readonly #sessions: string;

  /** @throws {SetupError} for a prefix or tenant that can't be one */
  constructor(space: KeySpace, kind: LeaseKind | undefined) {
    const part = (name: string) => redisChannel(space, partOf(kind, name)).replaceAll(':', '/');
    this.released = `${part('released')}/`;
    this.allReleased = this.released + encodeURIComponent(ALL_RELEASED);
    this.#terms = part('lease');
    this.#sessions = part('session');
  }

  of(resource: string): ResourceKeys {
    const name = encodeURIComponent(checkResourceName(resource));
    const all = `${this.#terms}/${name}/`;
    return { all, term: `${all}term`, counter: `${all}fence`, released: this.released + name };
  }

  session(nonce: string): SessionKeys {
    const all = `${this.#sessions}/${encodeURIComponent(nonce)}/`;
    return { all, own: `${all}session`, notes: `${all}revoked/` };
  }

  note({ notes }: SessionKeys, resource: string): string {
    return notes + encodeURIComponent(resource);
  }

  noted({ notes }: SessionKeys, key: string): string {
    return decodeURIComponent(key.slice(notes.length));
  }

  /** What an announcement names. */
  announced(key: string): string {
    return decodeURIComponent(key.slice(this.released.length));
  }
}
