import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const SCRIPTS = fileURLToPath(new URL('../../scripts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** A clone that has our scripts and hardly anything else; npm and the compilers are stand-ins that note their calls. */
export class Clone {
  readonly folder = mkdtempSync(join(tmpdir(), 'clone-'));
  private readonly started: ChildProcess[] = [];

  constructor() {
    cpSync(SCRIPTS, join(this.folder, 'scripts'), { recursive: true });
    this.write('package.json', JSON.stringify({ dependencies: { left: '^1.0.0' } }));
    this.lock('1.0.0');
    this.write('apps/demo/tsconfig.json', '{}');
    this.write('apps/demo/src/main.ts', 'export {};');
    this.npm('mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json');
  }

  /** The lock file of somebody who has `version` of the one dependency. */
  lock(version: string): void {
    const packages = {
      '': { dependencies: { left: '^1.0.0' } },
      'node_modules/left': { version },
      'node_modules/left-for-another-platform': { version, optional: true },
    };
    this.write('package-lock.json', JSON.stringify({ packages }));
  }

  npm(body: string): void {
    this.program('bin/npm', body);
  }

  /** Installs at once, without npm, and with a compiler that does `body`. */
  compiler(name: 'openapi-typescript' | 'tsc' | 'vite', body: string): void {
    this.write('node_modules/.package-lock.json', readFileSync(join(this.folder, 'package-lock.json'), 'utf8'));
    this.program(`node_modules/.bin/${name}`, body);
  }

  calls(program: string): number {
    const file = join(this.folder, `${program}.calls`);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;
  }

  /** `node <args>` in the clone. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
    const path = [join(this.folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
    const child = spawn(process.execPath, args, {
      cwd: this.folder,
      env: { ...process.env, PATH: path, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.started.push(child);
    const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
    return { process: child, ended: ended.then(([[code], out, err]) => ({ code: code as number | null, out, err })) };
  }

  /** Calls an exported function of one of the scripts. */
  call(script: string, expression: string): Started {
    const code = `const m = await import('./scripts/${script}.mjs'); await m.${expression};`;
    return this.start(['--input-type=module', '-e', code]);
  }

  write(file: string, content: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  has(file: string): boolean {
    return existsSync(join(this.folder, file));
  }

  remove(file: string): void {
    rmSync(join(this.folder, file), { recursive: true });
  }

  async discard(): Promise<void> {
    for (const child of this.started) {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private program(file: string, body: string): void {
    const name = file.split('/').at(-1);
    this.write(file, `#!/bin/sh\necho "$@" >> ${this.folder}/${name}.calls\n${body}\n`);
    chmodSync(join(this.folder, file), 0o755);
  }
}
