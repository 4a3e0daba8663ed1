import { Injectable } from '@nestjs/common';
import type { Fence } from '@fencepost/lease';

/** Stands for a mail provider that recognises a repeated request by its key, as most of them do. */
@Injectable()
export class Mailer {
  readonly #sent = new Map<string, string>();

  send(text: string, { idempotencyKey, fence }: { idempotencyKey: string; fence: Fence }): { sent: boolean } {
    const isNew = !this.#sent.has(idempotencyKey);
    if (isNew) this.#sent.set(idempotencyKey, `${text} (fence ${fence})`);
    return { sent: isNew };
  }
}
