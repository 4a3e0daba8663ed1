/** Handlers that go on until they are released. */
export class Held {
  #waiting = [];
  #wanted = { count: Infinity, there: () => {} };

  /** Called by each handler. */
  hold() {
    return new Promise((release) => {
      this.#waiting.push(release);
      if (this.#waiting.length >= this.#wanted.count) this.#wanted.there();
    });
  }

  /** When `count` of them go on at once. */
  all(count) {
    return new Promise((there) => {
      this.#wanted = { count, there };
      if (this.#waiting.length >= count) there();
    });
  }

  release() {
    for (const release of this.#waiting.splice(0)) release();
  }
}
