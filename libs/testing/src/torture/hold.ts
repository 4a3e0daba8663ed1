type Reason = 'cancel' | 'slow';

/** A call that is not let go on: whoever turns the clock is told, and lets it go on in the end. */
export class Hold {
  readonly #waiting: { readonly reason: Reason; readonly goOn: () => void }[] = [];
  readonly #told: (() => void)[] = [];

  /** What is to happen meanwhile; `null` when none is held. */
  get waits(): Reason | null {
    return this.#waiting[0]?.reason ?? null;
  }

  /** Resolves when a call is held: nobody should wait for it then. */
  held(): Promise<void> {
    if (this.#waiting.length > 0) return Promise.resolve();
    return new Promise((resolve) => this.#told.push(resolve));
  }

  /** Comes back when it is released. */
  async hold(reason: Reason): Promise<void> {
    await new Promise<void>((goOn) => {
      this.#waiting.push({ reason, goOn });
      for (const tell of this.#told.splice(0)) tell();
    });
  }

  /** The one that waits first. */
  release(): void {
    this.#waiting.shift()?.goOn();
  }
}
