import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.js';

const HOOKS = fileURLToPath(new URL('../support/register-source.mjs', import.meta.url));
const APP = new URL('../programs/deployed-app.ts', import.meta.url).href;
const MAIN = 'dist/main.mjs';

/** What is built into an image. */
export interface ImageSource {
  /** The expression of each cron, as JavaScript: `'"* * * * * *"'` or `process.env.CRON`. */
  readonly crons: Readonly<Record<string, string>>;
  /** The name in its `package.json`; `null` for a bundle without one. */
  readonly name?: string | null;
  /** Options of `JobsModule` in its code, as JavaScript. */
  readonly options?: string;
}

/** A folder with a program, as an image has it. */
export class Image {
  readonly folder = mkdtempSync(join(tmpdir(), 'image-'));

  constructor(readonly source: ImageSource) {
    const { name = 'shop' } = source;
    if (name !== null) this.write('package.json', JSON.stringify({ name, type: 'module', main: MAIN }));
    this.build();
  }

  /** Writes the program anew, as an image does that builds when it starts. */
  build(): void {
    this.write(MAIN, this.program);
  }

  get program(): string {
    const { crons, options = '{}' } = this.source;
    const entries = Object.entries(crons).map(([name, text]) => `  ${JSON.stringify(name)}: ${text},`);
    const call = ['await boot({', ...entries, `}, ${options});`];
    return [`import { boot } from ${JSON.stringify(APP)};`, ...call, ''].join('\n');
  }

  write(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** All files get one time, as in images of buildpacks, Nix and Bazel. */
  freezeTimes(): this {
    for (const path of readdirSync(this.folder, { recursive: true })) {
      utimesSync(join(this.folder, String(path)), new Date('1985-10-26T08:15:00Z'), new Date('1985-10-26T08:15:00Z'));
    }
    return this;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What stands behind `node`; default: the program's file. */
  readonly args?: readonly string[];
}

/** A process of an image. */
export class ImagePod {
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  #said = '';

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.#said += chunk.toString()));
    }
    this.exited = once(child, 'close').then(([code, signal]) => {
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
  }

  static spawn(name: string, image: Image, { env = {}, args = [MAIN] }: StartOptions): ImagePod {
    const all = { ...process.env, NO_COLOR: '1', ...env };
    const child = spawn(process.execPath, ['--import', HOOKS, ...args], {
      ...{ cwd: image.folder, env: all, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    return new ImagePod(name, child);
  }

  /** All that it has printed. */
  get said(): string {
    return this.#said;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** @throws {Error} with what it printed, where it ended instead */
  async started(): Promise<this> {
    await until(`${this.name} has started`, async () => this.#said.includes('started\n') || !this.isRunning, 90_000);
    if (!this.#said.includes('started\n')) throw new Error(`${this.name} did not start:\n${this.#said}`);
    return this;
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.child.kill(signal);
  }

  async leave(): Promise<void> {
    this.kill('SIGTERM');
    await this.exited;
  }

  /** The crons that its default log names as changed, each as often as it does. */
  changes(): string[] {
    return [...this.#said.matchAll(CHANGED)].flatMap(([, names = '']) => JSON.parse(names) as string[]);
  }
}

const EVENTS = ['created', 'redeclared', 'changed', 'reverted', 'restored', 'taken', 'removed'];
const CHANGED = new RegExp(`\\(catalog_(?:${EVENTS.join('|')}),.*? crons (\\[[^\\]]*\\])`, 'g');
