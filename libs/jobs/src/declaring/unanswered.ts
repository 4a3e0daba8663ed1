/** The calls whose replies have not come: what they have changed is heard when they are repeated with their nonce. */
export class Unanswered {
  #nonce: string | null = null;
  #isRepeated = false;
  #crons: ReadonlySet<string> = new Set();

  constructor(private readonly random: () => number) {}

  /** What they were about; empty for none. */
  get crons(): ReadonlySet<string> {
    return this.#crons;
  }

  /** What a call tells the store, which answers it as it would have answered the first one with this nonce. */
  get call(): { readonly nonce?: string; readonly repeated?: boolean } {
    return this.#nonce === null ? {} : { nonce: this.#nonce, repeated: this.#isRepeated };
  }

  /** Keeps the nonce of a call that fails for those that follow. */
  async ask<T>(crons: Iterable<string>, call: () => Promise<T>): Promise<T> {
    this.#isRepeated = this.#nonce !== null;
    this.#nonce ??= newNonce(this.random);
    this.#crons = new Set([...this.#crons, ...crons]);
    const reply = await call();
    this.#nonce = null;
    this.#crons = new Set();
    return reply;
  }
}

/** Short, because it stays with each generation. */
function newNonce(random: () => number): string {
  return Math.floor(random() * 36 ** 8)
    .toString(36)
    .padStart(8, '0');
}
