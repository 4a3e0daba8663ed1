import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { outlivesNobody } from './outlives-nobody.js';

/** A line of a pod's log. `event` is the name of a telemetry event, with `_` for the dot. */
export interface LogLine {
  readonly event?: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface PodProgram {
  readonly name: string;
  /** Arguments of `node`: the program, and what has to be loaded before it. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Waiting {
  readonly isWanted: (line: LogLine) => boolean;
  readonly found: (line: LogLine) => void;
  readonly gone: () => void;
}

/** What the test runner asks of its own processes, and what somebody's shell may happen to say to a pod. */
const NOT_INHERITED = /^(NODE_OPTIONS|NODE_ENV|HOST|FENCEPOST_.*)$/;

/** A pod of a test is open to the test, unless it is to know who comes. */
const KNOWS_CALLERS = /\bFENCEPOST_(TOKENS|TOKENS_FILE|AUTH_MODULE)\b/;
const OPEN = { FENCEPOST_AUTH: 'none' };

/** What a pod says last of all when it starts. */
const LISTENS = / listens on (\S+)/;

/** Generous, because only a test that fails waits for so long. */
const PATIENCE_MS = 45_000;
const LINES_SHOWN = 40;

/** A process of its own. What it says is for knowing when; for what counts, ask the stores. */
export class Pod {
  readonly name: string;
  readonly lines: LogLine[] = [];
  stderr = '';
  /** Resolves when the process is gone and everything it wrote has been read. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #waiting = new Set<Waiting>();
  #exit: Exit | undefined;

  constructor({ name, args, env }: PodProgram) {
    this.name = name;
    const inherited = Object.entries(process.env).filter(([key]) => !NOT_INHERITED.test(key));
    this.#child = spawn(process.execPath, args, {
      env: { ...Object.fromEntries(inherited), ...(!KNOWS_CALLERS.test(Object.keys(env).join(' ')) && OPEN), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    outlivesNobody(this.#child);
    createInterface({ input: this.#child.stdout }).on('line', (text) => this.#hear(text));
    this.#child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.exited = this.#untilExit();
  }

  get isAlive(): boolean {
    return this.#exit === undefined;
  }

  /** Where it says that it listens, such as `http://127.0.0.1:3000`. */
  get url(): string {
    const said = this.lines.find(({ msg }) => msg !== undefined && LISTENS.test(msg))?.msg ?? '';
    return LISTENS.exec(said)?.[1] ?? '';
  }

  /** Until the pod has bound its port, which it does last. */
  async ready(patienceMs: number = PATIENCE_MS): Promise<this> {
    await this.#find('that it is ready', ({ msg }) => msg !== undefined && LISTENS.test(msg), patienceMs);
    return this;
  }

  /** Asks the pod over HTTP, at the port it says it has bound. */
  async post(path: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Expected ${this.name} to accept ${path}, it said: ${await response.text()}`);
    return response.json();
  }

  /** The first line of this event, be it in the past or to come; rejects when the pod ends without it. */
  waitFor(
    event: string,
    matches: (line: LogLine) => boolean = () => true,
    patienceMs: number = PATIENCE_MS,
  ): Promise<LogLine> {
    return this.#find(`the event "${event}"`, (line) => line.event === event && matches(line), patienceMs);
  }

  eventsOf(event: string): LogLine[] {
    return this.lines.filter((line) => line.event === event);
  }

  lastLines(): string {
    return this.#told(this.lines.slice(-LINES_SHOWN));
  }

  allLines(): string {
    return this.#told(this.lines);
  }

  /** Any signal; one that is gone hears nothing. */
  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** SIGSTOP: a pod whose host swaps, or pauses it. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** SIGKILL, which ends a frozen process too. */
  kill(): Promise<Exit> {
    this.#child.kill('SIGKILL');
    return this.exited;
  }

  /** SIGTERM, as an orchestrator sends it. */
  async terminate(): Promise<Exit & { readonly tookMs: number }> {
    const since = performance.now();
    this.#child.kill('SIGTERM');
    return { ...(await this.exited), tookMs: performance.now() - since };
  }

  #told(lines: readonly LogLine[]): string {
    return [...lines.map((line) => JSON.stringify(line)), this.stderr].join('\n');
  }

  #find(described: string, isWanted: Waiting['isWanted'], patienceMs: number): Promise<LogLine> {
    const line = this.lines.find(isWanted);
    if (line) return Promise.resolve(line);
    if (this.#exit) return Promise.reject(this.#complaint(described));
    return new Promise((resolve, reject) => {
      const gone = () => {
        settle();
        reject(this.#complaint(described));
      };
      const found = (match: LogLine) => {
        settle();
        resolve(match);
      };
      const waiting: Waiting = { isWanted, found, gone };
      const timer = setTimeout(gone, patienceMs);
      const settle = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
      };
      this.#waiting.add(waiting);
    });
  }

  #hear(text: string): void {
    const line = readLine(text);
    this.lines.push(line);
    for (const waiting of [...this.#waiting]) if (waiting.isWanted(line)) waiting.found(line);
  }

  #untilExit(): Promise<Exit> {
    return new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#exit = { code, signal };
        for (const { gone } of [...this.#waiting]) gone();
        resolve(this.#exit);
      });
    });
  }

  #complaint(described: string): Error {
    const how = this.#exit ? `ended (${this.#exit.signal ?? this.#exit.code})` : 'runs';
    return new Error(`Expected ${described} from the pod ${this.name}, which ${how}. ${this.stderr}`.trimEnd());
  }
}

function readLine(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return { msg: text };
  }
}
