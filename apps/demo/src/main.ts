import { randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@fencepost/lease';
import { Demo } from './demo.js';
import type { Event } from './events.js';
import { Observer } from './observer.js';
import { writePlaceFile } from './place-file.js';
import { HELP, parseOptions, type DemoOptions } from './options.js';
import { summary, type Closing } from './report.js';
import { listenForStop, type Stopping } from './stopping.js';
import { Screen } from './screen.js';
import { deploy } from './stores.js';
import { timeOfDay } from './words.js';

/** What a shell reports for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

const out = (line: string) => void process.stdout.write(`${line}\n`);
const err = (line: string) => void process.stderr.write(`${line}\n`);

try {
  await main(process.argv.slice(2));
} catch (error) {
  err(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<void> {
  const { help, ...options } = parseOptions(args);
  if (help) return out(HELP);
  const stopping = listenForStop(process.env['FENCEPOST_REDIS_HOW'] !== undefined);
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-demo-'));
  try {
    process.exitCode = 1;
    process.exitCode = conclude(await demo(options, folder, stopping), options);
  } finally {
    stopping.close();
    if (process.exitCode === 0 || readdirSync(folder).length === 0) rmSync(folder, { recursive: true, force: true });
    else err(`The logs of the pods are in ${folder}`);
  }
}

async function demo(options: DemoOptions, folder: string, stopping: Stopping): Promise<Closing | null> {
  const { stores, podEnv, places, place, audit, ...deployment } = await deploy(process.env, options.ledger);
  const forget = place && writePlaceFile(place);
  const screen = isTerminal(options) ? new Screen(process.stdout) : null;
  // With --json, stdout has only the last line.
  const write = screen ? (line: string) => screen.line(line) : options.json ? err : out;
  const tell = (...[kind, text]: Event) => write(`${timeOfDay(systemClock.now())} ${kind.padEnd(8)} ${text}`);
  try {
    const seed = options.seed ?? randomInt(1_000_000);
    const chaos = options.chaos ? [`--chaos --seed ${seed} makes the same choices again`] : [];
    const here = forget ? ['In another terminal, in this folder: npx fencepost top'] : [];
    for (const text of [...places, ...here, `logs of the pods in ${folder}`, ...chaos]) tell('note', text);
    const observer = new Observer(stores);
    const head = ['Fencepost demo · Ctrl-C ends it', ...(forget ? [...here, ...places.slice(0, -1)] : places)];
    const show = screen && ((status: readonly string[]) => screen.show([...head, ...status]));
    const deps = { options, seed, clock: systemClock, stopping, observer, podEnv, folder, tell, show };
    const end = await new Demo(deps).run().finally(() => screen?.close());
    if (audit !== null) err(audit);
    return end;
  } finally {
    forget?.();
    await deployment.close();
  }
}

/** Where a header can stay: a terminal that a person looks at. */
function isTerminal({ json }: DemoOptions): boolean {
  return !json && process.stdout.isTTY && process.env['TERM'] !== 'dumb';
}

function conclude(end: Closing | null, { json }: DemoOptions): number {
  if (end === null) err('Ended before there was anything to judge.');
  else out(json ? JSON.stringify(end) : summary(end).join('\n'));
  return end === null ? INTERRUPTED : end.ok ? 0 : 1;
}
