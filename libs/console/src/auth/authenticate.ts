import type { IncomingMessage } from 'node:http';
import type { AccessRole } from '@fencepost/operations/access-tokens';

/** Somebody who was recognised. */
export interface Identity {
  /** As audit records show it. */
  readonly name: string;
  readonly role: AccessRole;
}

/**
 * Says who sends a request: `null` for nobody it knows. A deployment behind a proxy that signs people in has one of its own,
 * which reads the headers of that proxy.
 *
 * Whatever it goes by is taken for something a browser sends by itself, so a page of another origin can't make use of it.
 * One that throws has recognised nobody.
 */
export type Authenticate = (request: IncomingMessage) => Identity | null | Promise<Identity | null>;
