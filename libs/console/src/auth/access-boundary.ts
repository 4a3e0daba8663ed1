import { Inject, Injectable } from '@nestjs/common';
import { ROLES, roleOf } from '@fencepost/operations/access-tokens';
import {
  isReading,
  LINES,
  placeOf,
  TAKES_LINES,
  type Next,
  type WebRequest,
  type WebResponse,
} from '../http/web-request.js';
import { ACCESS, isUnguarded, type Access } from './access.js';
import type { Identity } from './authenticate.js';
import { asCaller, LOCAL, type Caller } from './caller.js';
import { credentialOf } from './credentials.js';
import { isOpen } from './open-places.js';
import { isCrossOrigin, isWithinMachine } from './origin.js';
import { foreignHost, notJson, otherOrigin, unknownCaller } from './refusals.js';

interface Recognised extends Identity {
  /** By something that a browser sends by itself. */
  readonly ambient: boolean;
}

/**
 * Everything that is served stands behind this one boundary: the API, Bull Board, the documentation, the page. It asks who comes,
 * whatever the path, and lets in unasked only at the few places that are listed as open.
 */
@Injectable()
export class AccessBoundary {
  constructor(@Inject(ACCESS) private readonly access: Access) {}

  /** Before everything else, and before a body is read. */
  readonly enter = (request: WebRequest, _response: WebResponse, next: Next): void => {
    this.#admit(request).then(
      (caller) => (caller ? asCaller(caller, () => next()) : next()),
      (error: unknown) => next(error),
    );
  };

  /** @returns `null` where everybody may come in */
  async #admit(request: WebRequest): Promise<Caller | null> {
    if (isOpen(placeOf(request))) {
      this.#checkSent(request, true);
      return null;
    }
    if (isUnguarded(this.access) && !isWithinMachine(request)) throw foreignHost();
    const identity = await this.#recognise(request);
    if (!identity) throw unknownCaller();
    this.#checkSent(request, identity.ambient);
    return { name: identity.name, role: identity.role, address: request.ip ?? 'unknown' };
  }

  async #recognise(request: WebRequest): Promise<Recognised | null> {
    if (isUnguarded(this.access)) return { ...LOCAL, ambient: true };
    const credential = credentialOf(request);
    const known = credential && roleOf(this.access.tokens, credential.token);
    if (known) return { ...known, ambient: credential.ambient };
    const identity = await this.#askOwner(request);
    return identity && { ...identity, ambient: true };
  }

  async #askOwner(request: WebRequest): Promise<Identity | null> {
    try {
      const identity = (await this.access.authenticate?.(request)) ?? null;
      return identity && checkedIdentity(identity);
    } catch {
      return null;
    }
  }

  /** A page of another origin can send a form or a plain text with what the browser has; it can't send JSON, or lines of it, unasked. */
  #checkSent(request: WebRequest, ambient: boolean): void {
    if (isReading(request.method)) return;
    if (ambient && isCrossOrigin(request)) throw otherOrigin();
    const type = placeOf(request).path === TAKES_LINES ? LINES : 'application/json';
    if (hasBody(request) && request.is(type) === false) throw notJson(type);
  }
}

function hasBody({ headers }: WebRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** It is somebody else's code: what is no name and no role lets nobody in. */
function checkedIdentity({ name, role }: Identity): Identity | null {
  return typeof name === 'string' && name.trim() !== '' && name.length <= 200 && ROLES.includes(role)
    ? { name, role }
    : null;
}
