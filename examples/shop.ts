import { Injectable } from '@nestjs/common';

/** What the jobs of the examples work on, in memory. A mail provider that knows what it was asked by its key, as most do. */
@Injectable()
export class Shop {
  readonly done: string[] = [];
  readonly #keys = new Set<string>();

  async mail(what: string, idempotencyKey?: string): Promise<void> {
    if (idempotencyKey !== undefined && this.#keys.has(idempotencyKey)) return;
    if (idempotencyKey !== undefined) this.#keys.add(idempotencyKey);
    this.done.push(`mail ${what}`);
  }

  async cleanUp(): Promise<void> {
    this.done.push('clean-up');
  }

  async poll(): Promise<void> {
    this.done.push('poll');
  }

  warm(): void {
    this.done.push('warm');
  }
}
