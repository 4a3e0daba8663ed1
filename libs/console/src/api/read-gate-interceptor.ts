import { Inject, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { ReadGate } from './read-gate.js';

/** Lets a route's handler begin when the gate has room for it. */
@Injectable()
export class ReadGateInterceptor implements NestInterceptor {
  constructor(@Inject(ReadGate) private readonly gate: ReadGate) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return from(this.gate.run(() => lastValueFrom(next.handle())));
  }
}
