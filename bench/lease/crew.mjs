import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { programOf } from './contenders.mjs';
import { goFirst, onTheCpu } from './go-first.mjs';

const CONTENDER = fileURLToPath(new URL('./contender.mjs', import.meta.url));

/** The processes of the contenders, all on the same servers. */
export class Crew {
  #processes = new Map();

  /** @param {{ room: string, names: readonly string[], urls: readonly string[], pinned: boolean }} crew `room` keeps keys apart */
  static async open({ names, ...where }) {
    const crew = new Crew();
    await Promise.all(names.map((name) => crew.#start(name, where)));
    return crew;
  }

  async #start(name, { room, urls, pinned }) {
    const where = JSON.stringify({ urls, prefix: `${room}-${name.replace(/[^a-z0-9]+/gi, '-')}` });
    // `advanced`, because JSON has no Infinity. Stdout belongs to the result.
    const program = programOf(name, { mayFetch: false });
    const place = pinned ? onTheCpu(program) : { execPath: program };
    const options = { serialization: 'advanced', stdio: ['ignore', 2, 2, 'ipc'], ...place };
    const child = fork(CONTENDER, [name, where], options);
    this.#processes.set(name, child);
    await this.#heard(name);
    if (!pinned) goFirst(child.pid);
  }

  /** One works at a time, unless its caller wants several at once. */
  async work(name, { workload, count }) {
    const heard = this.#heard(name);
    this.#processes.get(name).send({ workload, count });
    const told = await heard;
    if (told.failed) throw new Error(told.failed);
    return told;
  }

  async #heard(name) {
    const child = this.#processes.get(name);
    const gone = new AbortController();
    try {
      const exit = once(child, 'exit', { signal: gone.signal }).then(() => [{ failed: `${name}: its process ended` }]);
      return (await Promise.race([once(child, 'message', { signal: gone.signal }), exit]))[0];
    } finally {
      gone.abort();
    }
  }

  /** SIGKILL: one that waits for a frozen node would wait on. What it held ends with its server. */
  async dismiss() {
    const running = [...this.#processes.values()].filter(
      (child) => child.exitCode === null && child.signalCode === null,
    );
    const ended = running.map((child) => once(child, 'exit'));
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ended);
  }
}
