import { checkResourceName } from '../base/resource.js';
import type { Term } from '../store/grant.js';
import { partOf, redisChannel } from '../store/keys.js';
import type { KeySpace, LeaseKind } from '../store/keys.js';
import type { NamedValue } from './etcd-transaction.js';

/** Where everything lies. */
export class EtcdKeys {
  /** What all terms begin with. */
  readonly terms: string;
  /** Put anew for each announcement. */
  readonly released: string;
  readonly #counters: string;
  readonly #notes: string;

  /** @throws {SetupError} for a prefix or tenant that can't be one */
  constructor(space: KeySpace, kind: LeaseKind | undefined) {
    const part = (name: string) => redisChannel(space, partOf(kind, name));
    this.terms = `${part('lease')}:`;
    this.released = part('released');
    this.#counters = `${part('fence')}:`;
    this.#notes = `${part('revoked')}:`;
  }

  term(resource: string): string {
    return this.terms + checkResourceName(resource);
  }

  counter(resource: string): string {
    return this.#counters + checkResourceName(resource);
  }

  /** The resource of a term's key. */
  resourceOf(key: string): string {
    return key.slice(this.terms.length);
  }

  /** What the notes of one session begin with, and no other key: a nonce has no blank. */
  notes(session: string): string {
    return `${this.#notes}${session} `;
  }

  /** Says that a term was taken; its value is the nonce. */
  note(session: string, resource: string): string {
    return this.notes(session) + resource;
  }

  noted(session: string, { key, value }: NamedValue): Term {
    return { resource: key.slice(this.notes(session).length), nonce: value };
  }
}
