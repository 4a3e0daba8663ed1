/**
 * The `JobsModule`s with the role worker that were made in this process, and that no application has begun to boot. One that is
 * an import of a module class is made when its file is evaluated, which is before the first application boots.
 */
export class AwaitedWorkers {
  readonly #tokens = new Set<object>();

  /** @returns stands for the `JobsModule` */
  add(): object {
    const token = {};
    this.#tokens.add(token);
    return token;
  }

  boots(token: object): void {
    this.#tokens.delete(token);
  }

  get isEmpty(): boolean {
    return this.#tokens.size === 0;
  }
}

/** Those of this process. */
export const awaitedWorkers = new AwaitedWorkers();
