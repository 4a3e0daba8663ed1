import type { DeclaredCron, Declarer } from '../catalog/catalog.js';
import { isGeneration } from '../catalog/word.js';

/** Calls whose answers are remembered: a call is repeated at once, or never. */
const MAX_REMEMBERED = 1_000;

/** What calls were answered that may be repeated with their nonce. Stores keep it with the generations that a call began. */
export class MemoryAnswers {
  readonly #declared = new Map<string, ReadonlyMap<string, DeclaredCron>>();
  readonly #dropped = new Map<string, readonly string[]>();

  again({ nonce }: Declarer, reply: readonly DeclaredCron[]): DeclaredCron[] {
    if (nonce === undefined) return [...reply];
    const before = this.#declared.get(nonce);
    const all = reply.map((one) =>
      isGeneration(one.word) || one.word === 'noted' ? one : (before?.get(one.cron) ?? one),
    );
    const begun = all.filter(({ word }) => isGeneration(word)).map((one) => [one.cron, one] as const);
    remember(this.#declared, nonce, new Map([...(before ?? []), ...begun]));
    return all;
  }

  droppedAgain({ nonce }: Declarer, dropped: readonly string[]): string[] {
    if (nonce === undefined) return [...dropped];
    const all = [...new Set([...dropped, ...(this.#dropped.get(nonce) ?? [])])];
    remember(this.#dropped, nonce, all);
    return all;
  }
}

function remember<T>(answers: Map<string, T>, nonce: string, answer: T): void {
  answers.set(nonce, answer);
  for (const oldest of answers.keys()) if (answers.size > MAX_REMEMBERED) answers.delete(oldest);
}
