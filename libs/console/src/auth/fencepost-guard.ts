import { Inject, Injectable, SetMetadata } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { mayAs, type AccessRole } from '@fencepost/operations/access-tokens';
import { isReading, placeOf, type WebRequest } from '../http/web-request.js';
import { currentCaller } from './caller.js';
import { isOpen } from './open-places.js';
import { notAllowed, unknownCaller } from './refusals.js';

const NEEDS = Symbol('NEEDS');

/** Which role a route needs; without it a look needs `viewer`, and everything else `admin`. */
export const Needs = (role: AccessRole) => SetMetadata(NEEDS, role);

/**
 * Checks the role for every route of the console's controllers. The {@link AccessBoundary} has said by then who it is; where no
 * boundary stands, nobody is let in.
 */
@Injectable()
export class FencepostGuard implements CanActivate {
  constructor(@Inject(Reflector) private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<WebRequest>();
    if (isOpen(placeOf(request))) return true;
    const caller = currentCaller();
    if (!caller) throw unknownCaller();
    const needed = this.#neededFor(context, request.method);
    if (!mayAs(caller.role, needed)) throw notAllowed(caller.role, needed);
    return true;
  }

  #neededFor(context: ExecutionContext, method: string): AccessRole {
    const places = [context.getHandler(), context.getClass()];
    const said = this.reflector.getAllAndOverride<AccessRole | undefined>(NEEDS, places);
    return said ?? (isReading(method) ? 'viewer' : 'admin');
  }
}
