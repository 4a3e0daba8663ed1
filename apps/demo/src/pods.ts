import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import type { Order, Report } from './supervisor.js';

export const SIZES = { scheduler: 3, worker: 2 } as const;
export type PodRole = keyof typeof SIZES;

/** Short enough to watch a takeover. Workers keep a run somewhat longer than schedulers keep a cron. */
export const LEASE_MS = { scheduler: 2_000, worker: 3_000 } as const;

export interface Pod {
  readonly name: string;
  readonly role: PodRole;
  readonly port: number;
  readonly pid: number | null;
  /** The demo causes `killed` and `frozen`; `ended` is a pod that exited by itself. */
  readonly state: 'starting' | 'up' | 'frozen' | 'killed' | 'ended' | 'stopping' | 'stopped';
}

/** `failures`: how often it ended since it was up. */
type Launched = { -readonly [Key in keyof Pod]: Pod[Key] } & { log: string | null; failures: number };

export interface PodsDeps {
  readonly clock: Clock;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onUp: (pod: Pod) => void;
  readonly onEnded: (pod: Pod, how: string) => void;
}

const FIRST_PORT = { scheduler: 3000, worker: 3100 } as const;
const POLL_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;
const MAX_FAILURES = 3;
const START_TIMEOUT_MS = 60_000;

/** The pods, each a process that is restarted when it ends, as Compose does with `restart: always`. */
export class Pods {
  readonly #pods = new Map<string, Launched>();
  readonly #gone = new AbortController();
  readonly #supervisor = fork(fileURLToPath(new URL('./supervisor.js', import.meta.url)), {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  readonly #exited = once(this.#supervisor, 'exit').then(() => this.#endGroup());
  #stopping = false;
  /** Aborts when the supervisor is gone, and all pods with it. */
  readonly gone: AbortSignal = this.#gone.signal;

  constructor(private readonly deps: PodsDeps) {
    this.#supervisor.on('message', (report: Report) => this.#onReport(report));
  }

  all(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  /** @throws {Error} when one of them does not come up; the message has the last line of its log */
  async start(role: PodRole, signal: AbortSignal): Promise<void> {
    for (let n = 1; n <= SIZES[role]; n++) await this.#launch(`${role}-${n}`, role);
    const { clock } = this.deps;
    const deadline = clock.monotonic() + START_TIMEOUT_MS;
    while (!signal.aborted) {
      const missing = [...this.#pods.values()].filter(({ state }) => state !== 'up');
      if (missing.length === 0) return;
      const failed = missing.find(({ failures }) => failures >= MAX_FAILURES || clock.monotonic() > deadline);
      if (failed) throw new Error(`${failed.name} does not start. Its log ends with: ${logOf(failed).at(-1)}`);
      await sleep(clock, POLL_MS, signal);
    }
  }

  /** SIGSTOP: the pod keeps everything it has and does nothing, as on a host that swaps. */
  signal(name: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const pod = this.#pods.get(name);
    if (pod) pod.state = ({ SIGKILL: 'killed', SIGSTOP: 'frozen', SIGCONT: 'up' } as const)[signal];
    this.#send({ order: 'signal', name, signal });
  }

  /** SIGTERM for all pods, and SIGKILL for those left after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    const { clock } = this.deps;
    this.#stopping = true;
    for (const pod of this.#pods.values()) pod.state = pod.pid === null ? 'stopped' : 'stopping';
    this.#send({ order: 'stop' });
    const deadline = clock.monotonic() + graceMs;
    const left = () => this.all().some(({ pid }) => pid !== null);
    while (left() && !this.gone.aborted && clock.monotonic() < deadline) await sleep(clock, POLL_MS);
    await this.end();
  }

  async end(): Promise<void> {
    if (this.#supervisor.connected) this.#supervisor.disconnect();
    await this.#exited;
  }

  async #launch(name: string, role: PodRole): Promise<void> {
    const { env, folder } = this.deps;
    const port = await freePort(FIRST_PORT[role], new Set(this.all().map((pod) => pod.port)));
    this.#pods.set(name, { name, role, port, pid: null, state: 'starting', log: null, failures: 0 });
    const program = fileURLToPath(new URL(`../../${role}/bundle/main.js`, import.meta.url));
    const own = { ...env, PORT: String(port), POD_NAME: name };
    this.#send({ order: 'start', name, program, env: own, log: join(folder, name) });
  }

  #onReport(report: Report): void {
    const pod = this.#pods.get(report.name);
    if (!pod) return;
    if (report.report === 'started') {
      Object.assign(pod, { pid: report.pid, log: report.log, state: this.#stopping ? 'stopping' : 'starting' });
      void this.#untilUp(pod);
      return;
    }
    pod.pid = null;
    if (pod.state === 'stopping') pod.state = 'stopped';
    if (pod.state === 'killed' || pod.state === 'stopped') return;
    pod.state = 'ended';
    pod.failures += 1;
    this.deps.onEnded(pod, report.how);
  }

  async #untilUp(pod: Launched): Promise<void> {
    const waiting = () => !this.gone.aborted && pod.state === 'starting';
    // Its own log first: another demo's pod may answer on the port that it was to have.
    const up = async () => {
      pod.port = boundPort(logOf(pod)) ?? pod.port;
      return boundPort(logOf(pod)) !== null && isReady(`http://127.0.0.1:${pod.port}`);
    };
    while (waiting() && !(await up())) await sleep(this.deps.clock, POLL_MS);
    if (!waiting()) return;
    Object.assign(pod, { state: 'up', failures: 0 });
    this.deps.onUp(pod);
  }

  #send(order: Order): void {
    if (this.#supervisor.connected) this.#supervisor.send(order, () => {});
  }

  /** The demo ends the pods when the supervisor is gone, and the supervisor ends them when the demo is. */
  #endGroup(): void {
    this.#gone.abort();
    try {
      if (this.#supervisor.pid !== undefined) process.kill(-this.#supervisor.pid, 'SIGKILL');
    } catch {
      // The group is empty.
    }
  }
}

function logOf({ log }: Launched): string[] {
  return log === null ? [] : readFileSync(log, 'utf8').trim().split('\n');
}

/** The port that a pod says it listens on. */
function boundPort(log: readonly string[]): number | null {
  const [port] = log.flatMap((line) => /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? []);
  return port === undefined ? null : Number(port);
}

function isReady(address: string): Promise<boolean> {
  const asked = fetch(`${address}/health/ready`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
  return asked.then(({ ok }) => ok).catch(() => false);
}

/** The first that is free now; whoever binds it first has it, see the supervisor. */
async function freePort(from: number, taken: ReadonlySet<number>): Promise<number> {
  if (from > 65_535) throw new Error('No port is free on 127.0.0.1.');
  if (taken.has(from)) return freePort(from + 1, taken);
  const probe = createServer();
  try {
    await once(probe.listen({ port: from, host: '127.0.0.1', exclusive: true }), 'listening');
    return from;
  } catch {
    return freePort(from + 1, taken);
  } finally {
    probe.close();
  }
}
