import { Inject, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext, InjectionToken, Type } from '@nestjs/common';
import type { FenceGate } from '../sinks/fence-gate.js';
import { readFenceHeaders, type IncomingFenceHeaders } from '../sinks/fence-headers.js';

/**
 * A guard that admits a request by the fence in its headers: `@UseGuards(fenceGuard(ORDERS_GATE))`, where `ORDERS_GATE` is
 * the token of a {@link FenceGate}. `LeaseProblemFilter` turns its errors into 400 and 409.
 *
 * It stops a holder whose successor has been here. A request that was admitted, paused, and writes after its successor still
 * writes: where that matters, ask a `PostgresFenceGate` on the connection of the transaction that writes.
 * @throws {BadFenceHeadersError} from the request, without a valid fence
 * @throws {StaleFenceError} from the request, under a smaller fence than the gate has admitted for the resource
 */
export function fenceGuard(token: InjectionToken<FenceGate>): Type<CanActivate> {
  @Injectable()
  class FenceGuard implements CanActivate {
    constructor(@Inject(token) private readonly gate: FenceGate) {}

    async canActivate(context: ExecutionContext): Promise<true> {
      const { headers } = context.switchToHttp().getRequest<{ readonly headers: IncomingFenceHeaders }>();
      const { resource, fence } = readFenceHeaders(headers);
      await this.gate.admit(resource, fence);
      return true;
    }
  }
  return FenceGuard;
}
