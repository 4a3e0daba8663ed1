import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PATIENCE_MS = 60_000;

const PROGRAMS = {
  bare: new URL('./bare.mjs', import.meta.url),
  fencepost: new URL('./fencepost.mjs', import.meta.url),
  'pg-boss': new URL('./pg-boss.mjs', import.meta.url),
};

/** A measured process. */
export class Member {
  #child;

  /** @param {'bare' | 'fencepost' | 'pg-boss'} program */
  static async start(program, about) {
    const member = new Member();
    const file = fileURLToPath(PROGRAMS[program]);
    // Stdout belongs to the result.
    member.#child = fork(file, [JSON.stringify(about)], { stdio: ['ignore', 2, 2, 'ipc'] });
    await member.#heard();
    return member;
  }

  /** One order at a time. */
  async ask(say, order = {}) {
    const heard = this.#heard();
    this.#child.send({ say, ...order });
    const { told, failed } = await heard;
    if (failed) throw new Error(failed);
    return told;
  }

  /** Fills the queue, and says what it took to empty it. */
  async window(order) {
    await this.ask('fill', order);
    return this.ask('drain', order);
  }

  async #heard() {
    const gone = new AbortController();
    const late = AbortSignal.timeout(PATIENCE_MS);
    try {
      const exit = once(this.#child, 'exit', { signal: gone.signal }).then(() => [{ failed: 'its process ended' }]);
      const word = once(this.#child, 'message', { signal: AbortSignal.any([gone.signal, late]) });
      return (await Promise.race([word, exit]))[0];
    } finally {
      gone.abort();
    }
  }

  async end() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    await this.ask('stop').catch(() => this.#child.kill('SIGKILL'));
    if (this.#child.connected) this.#child.disconnect();
    await ended;
  }
}
