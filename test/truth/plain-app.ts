import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
/** Several start at once, on a machine that runs other tests. */
const PATIENCE_MS = 80_000;

/** A program in `test/programs` as a process. */
export interface PlainApp {
  /** All that it has printed. */
  said(): string;
  says(text: string): Promise<unknown>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export function startPlainApp(env: Readonly<Record<string, string>>, program = 'plain-app'): PlainApp {
  const file = fileURLToPath(new URL(`../programs/${program}.ts`, import.meta.url));
  const all = { ...process.env, NO_COLOR: '1', REDIS_URL: testRedis(), ...env };
  const child = spawn(process.execPath, [RUNNER, file], { env: all, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return {
    said: () => said,
    says: (text) => until(`the app says "${text}"`, () => Promise.resolve(said.includes(text)), PATIENCE_MS),
    kill: (signal) => void child.kill(signal),
    ended,
  };
}
