import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './supervision.js';

/** Our end of the supervisor: the process whose children the pods are. */
export class PodHost {
  readonly #process: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #gone = new AbortController();

  constructor(onReport: (report: Report) => void) {
    this.#process = fork(fileURLToPath(new URL('./supervisor.js', import.meta.url)), {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#process.on('message', onReport);
    this.#closed = new Promise((resolve) => this.#process.once('exit', resolve)).then(() => this.#endGroup());
  }

  /** Aborts when the supervisor is gone, and all pods with it. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  tell(order: Order): void {
    if (this.#process.connected) this.#process.send(order, () => {});
  }

  /** Ends all pods at once, and then the supervisor. */
  async end(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    await this.#closed;
  }

  /** The demo covers for the supervisor as the supervisor covers for the demo: only both at once could leave pods. */
  #endGroup(): void {
    this.#gone.abort();
    const { pid } = this.#process;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // Nobody of the group is left, as it should be.
    }
  }
}
