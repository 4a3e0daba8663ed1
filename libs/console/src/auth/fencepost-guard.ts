import { Inject, Injectable, SetMetadata } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { mayAs, type AccessRole } from '@fencepost/operations/access-tokens';
import { isReading, placeOf, type WebRequest } from '../http/web-request.js';
import { ACCESS, type Access } from './access.js';
import { currentCaller } from './caller.js';
import { isOpen } from './open-places.js';
import { notAllowed, unknownCaller } from './refusals.js';

const NEEDS = Symbol('NEEDS');

/** Which role a route needs; without it a look needs `viewer`, and everything else `admin`. */
export const Needs = (role: AccessRole) => SetMetadata(NEEDS, role);

/**
 * Checks the role for every route of every controller. The {@link AccessBoundary} has said by then who it is; where no boundary stands, as
 * in an app that was put together otherwise, nobody is let in.
 *
 * A deployment with sign-on of its own gives an `Authenticate` to `SchedulerAppModule.forRoot`, or names a module with one in
 * `FENCEPOST_AUTH_MODULE`, and keeps this guard.
 */
@Injectable()
export class FencepostGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(ACCESS) private readonly access: Access,
  ) {}

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<WebRequest>();
    if (isOpen(placeOf(request), this.access)) return true;
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
