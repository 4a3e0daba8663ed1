import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const STOP_PATIENCE_MS = 60_000;
/** For a boot, or for the instant of a cron: seconds, where the machine has nothing else to do. */
const SAYS_PATIENCE_MS = 300_000;

/** One process of the stranger's app, `node dist/main` unless it is bundled. */
export class Replica {
  /** What the example's `send` was given, in the order in which it came. */
  mails = [];
  #said = [];
  #child;
  #ended;

  /** @param {{ cwd: string, env: NodeJS.ProcessEnv, port: number, entry?: string }} at */
  constructor({ cwd, env, port, entry = 'dist/main' }) {
    this.port = port;
    this.#child = spawn('node', [entry], {
      cwd,
      env: { ...env, PORT: `${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      createInterface(stream).on('line', (line) => this.#hear(line));
  }

  /** @returns {string} everything it printed */
  get said() {
    return this.#said.join('\n');
  }

  /** Waits until it has printed this. */
  async says(text) {
    const signal = AbortSignal.timeout(SAYS_PATIENCE_MS);
    while (!this.said.includes(text)) {
      const more = await Promise.race([
        once(this.#child.stdout, 'data', { signal }).catch(() => {}),
        this.#ended.then(() => null),
      ]);
      const failed = more === null ? 'before the app ended' : `within ${SAYS_PATIENCE_MS / 60_000} minutes`;
      if (!more && !this.said.includes(text)) throw new Error(`Expected "${text}" ${failed}:\n${this.said}`);
    }
  }

  /** @returns {Promise<number | string>} its exit code, or the signal that ended it */
  async stop() {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), STOP_PATIENCE_MS);
    const [code, signal] = await this.#ended;
    clearTimeout(timer);
    return code ?? signal;
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  #hear(line) {
    this.#said.push(line);
    if (line.startsWith('{"text":')) this.mails.push(JSON.parse(line));
  }
}
