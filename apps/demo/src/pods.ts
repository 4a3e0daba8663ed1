import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { freePort } from './free-port.js';
import { isReady } from './is-ready.js';
import { PodHost } from './pod-host.js';
import type { Pod, PodRole, PodState } from './pod.js';
import type { Report } from './supervision.js';

export interface PodsDeps {
  readonly clock: Clock;
  /** Where the pods' output goes. */
  readonly folder: string;
  /** Beside `PORT` and `POD_NAME`. */
  readonly env: Readonly<Record<string, string>>;
  readonly onUp: (pod: Pod) => void;
  /** A pod that had been up ended, and nobody here had asked for it. */
  readonly onEnded: (pod: Pod, how: string) => void;
}

interface Started {
  readonly name: string;
  readonly role: PodRole;
  port: number;
  pid: number | null;
  state: PodState;
  everUp: boolean;
  launches: number;
  /** How often it ended without having been up. */
  failures: number;
}

const ROOT = new URL('../../../', import.meta.url);
const FIRST_PORT = { scheduler: 3000, worker: 3100 } as const;
const LOOK_MS = 100;
const RESTART_MS = 1_000;
const MOST_FAILURES = 3;
const START_WITHIN_MS = 60_000;

/** The pods as processes: started, hurt, started again and stopped. */
export class Pods {
  readonly #pods = new Map<string, Started>();
  readonly #host = new PodHost((report) => this.#hear(report));

  constructor(private readonly deps: PodsDeps) {}

  /** Aborts when all pods are gone because their supervisor is. */
  get gone(): AbortSignal {
    return this.#host.gone;
  }

  all(): Pod[] {
    return [...this.#pods.values()].map(({ name, role, port, pid, state }) => ({ name, role, port, pid, state }));
  }

  async start(name: string, role: PodRole): Promise<void> {
    const taken = new Set([...this.#pods.values()].map((pod) => pod.port));
    const port = await freePort(FIRST_PORT[role], taken);
    const pod: Started = { name, role, port, pid: null, state: 'starting', everUp: false, launches: 0, failures: 0 };
    this.#pods.set(name, pod);
    this.#launch(pod);
  }

  /** @throws {Error} when one of them does not come up; the last line of its log is part of the message */
  async untilAllUp(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    const deadline = clock.monotonic() + START_WITHIN_MS;
    for (;;) {
      const missing = [...this.#pods.values()].filter(({ state }) => state !== 'up');
      const hopeless = missing.find(({ failures }) => failures >= MOST_FAILURES || clock.monotonic() > deadline);
      if (hopeless)
        throw new Error(`${hopeless.name} does not start; its last words: ${lastLine(this.#log(hopeless))}`);
      if (missing.length === 0 || signal.aborted) return;
      await sleep(clock, LOOK_MS, signal);
    }
  }

  /** SIGKILL; another one is started in its place. */
  kill(name: string): void {
    this.#do(name, 'killed', 'SIGKILL');
  }

  /** SIGSTOP: it holds on to everything it has and does nothing, as on a host that swaps or pauses. */
  freeze(name: string): void {
    this.#do(name, 'frozen', 'SIGSTOP');
  }

  /** Wakes up whoever is frozen. */
  thaw(): void {
    for (const { name, state } of this.#pods.values()) if (state === 'frozen') this.#do(name, 'up', 'SIGCONT');
  }

  /** SIGTERM for all; whoever is still there after `graceMs` is ended. */
  async stop(graceMs: number): Promise<void> {
    const { clock } = this.deps;
    this.thaw();
    for (const { name } of this.#pods.values()) this.#do(name, 'stopping', 'SIGTERM');
    const deadline = clock.monotonic() + graceMs;
    const left = () => [...this.#pods.values()].some(({ pid }) => pid !== null);
    while (left() && !this.gone.aborted && clock.monotonic() < deadline) await sleep(clock, LOOK_MS);
    await this.#host.end();
  }

  /** Ends all at once, however they are. */
  end(): Promise<void> {
    return this.#host.end();
  }

  #do(name: string, state: PodState, signal: NodeJS.Signals): void {
    const pod = this.#pods.get(name);
    if (!pod) return;
    pod.state = state === 'stopping' && pod.pid === null ? 'stopped' : state;
    this.#host.tell({ order: 'signal', name, signal });
  }

  #launch(pod: Started): void {
    const { env } = this.deps;
    const { name, role, port } = pod;
    const program = fileURLToPath(new URL(`apps/${role}/dist/main.js`, ROOT));
    const own = { ...env, PORT: String(port), POD_NAME: name };
    pod.launches += 1;
    this.#host.tell({ order: 'start', name, program, env: own, log: this.#logFile(pod) });
    void this.#untilReady(pod);
  }

  async #untilReady(pod: Started): Promise<void> {
    const waiting = () => !this.gone.aborted && (pod.state === 'starting' || pod.state === 'restarting');
    // Its own words first: what answers on the port may be a pod of another demo, which was quicker.
    const listens = () => this.#log(pod).includes(`http://127.0.0.1:${pod.port}`);
    while (waiting() && !(listens() && (await isReady(pod.port)))) await sleep(this.deps.clock, LOOK_MS);
    if (!waiting()) return;
    pod.state = 'up';
    pod.everUp = true;
    this.deps.onUp({ ...pod });
  }

  #hear(report: Report): void {
    const pod = this.#pods.get(report.name);
    if (!pod) return;
    pod.pid = report.report === 'started' ? report.pid : null;
    if (report.report === 'started') return;
    if (pod.state === 'stopping') {
      pod.state = 'stopped';
      return;
    }
    if (pod.state !== 'killed') this.#endedByItself(pod, report.how);
    void this.#replace(pod);
  }

  #endedByItself(pod: Started, how: string): void {
    pod.state = 'ended';
    if (pod.everUp) this.deps.onEnded({ ...pod }, how);
    else pod.failures += 1;
  }

  async #replace(pod: Started): Promise<void> {
    await sleep(this.deps.clock, RESTART_MS, this.gone);
    // Between asking for a port and listening on it a process starts, and somebody else may have been quicker.
    const others = [...this.#pods.values()].filter((other) => other !== pod);
    pod.port = await freePort(pod.port, new Set(others.map(({ port }) => port)));
    if (this.gone.aborted || (pod.state !== 'killed' && pod.state !== 'ended')) return;
    pod.state = 'restarting';
    this.#launch(pod);
  }

  #log(pod: Started): string {
    const file = this.#logFile(pod);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** One for each process, so that a new one is not taken at its predecessor's word. */
  #logFile({ name, launches }: Started): string {
    return join(this.deps.folder, `${name}.${launches}.log`);
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'it said nothing';
}
