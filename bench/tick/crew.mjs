import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PATIENCE_MS = 120_000;

const PROGRAMS = {
  fencepost: new URL('./fencepost.mjs', import.meta.url),
  bullmq: new URL('./bullmq.mjs', import.meta.url),
  'nest-schedule': new URL('./nest-schedule.mjs', import.meta.url),
};

/** A measured process. */
export class Member {
  #child;

  /** @param {keyof typeof PROGRAMS | URL} program */
  static async start(program, about) {
    const member = new Member();
    const file = fileURLToPath(program instanceof URL ? program : PROGRAMS[program]);
    // Stdout belongs to the result.
    const stdio = ['ignore', 2, 2, 'ipc'];
    member.#child = fork(file, [JSON.stringify(about)], {
      stdio,
      serialization: 'advanced',
      execArgv: ['--expose-gc'],
    });
    await member.#heard();
    return member;
  }

  /** One order at a time. */
  async ask(say, order = {}) {
    const heard = this.#heard();
    this.#child.send({ say, ...order });
    const told = await heard;
    if (told.failed) throw new Error(told.failed);
    return told;
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
    this.#child.kill('SIGKILL');
    await ended;
  }
}
