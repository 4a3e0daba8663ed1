/** Runs at most this many tasks at once; the others wait in order. */
export class Gate {
  #free: number;
  readonly #line: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  async through<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  #enter(): Promise<void> | undefined {
    if (this.#free === 0) return new Promise((resolve) => this.#line.push(resolve));
    this.#free -= 1;
    return undefined;
  }

  #leave(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#free += 1;
  }
}
