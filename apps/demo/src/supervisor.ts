import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { systemClock } from '@fencepost/lease';

/** `log` is the beginning of the names of the pod's log files. */
export type Order =
  | { order: 'start'; name: string; program: string; env: Readonly<Record<string, string>>; log: string }
  | { order: 'signal'; name: string; signal: NodeJS.Signals }
  | { order: 'stop' };

/** `how` is "exit code 1" or the name of a signal. */
export type Report =
  { report: 'started'; name: string; pid: number | null; log: string } | { report: 'ended'; name: string; how: string };

const RESTART_MS = 1_000;

/**
 * The parent process of all pods, which restarts them. The kernel closes its channel to the demo even when the demo dies
 * by SIGKILL, which no exit handler sees, and then it ends the pods. It leads a process group of its own, so that Ctrl-C
 * in a terminal reaches only the demo, and the pods can drain.
 */
const pods = new Map<string, ChildProcess>();
let [stopping, ending] = [false, false];

process.on('message', (order: Order) => {
  if (order.order === 'start') start(order, 1);
  else if (order.order === 'signal') pods.get(order.name)?.kill(order.signal);
  else stop();
});
for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(event, end);

function start(order: Extract<Order, { order: 'start' }>, launch: number): void {
  if (stopping || ending) return;
  const { name, program, env } = order;
  // One log per process: a new process is not judged by what the previous one wrote.
  const log = `${order.log}.${launch}.log`;
  const file = openSync(log, 'a');
  const pod = spawn(process.execPath, [program], { env: { ...process.env, ...env }, stdio: ['ignore', file, file] });
  closeSync(file);
  pods.set(name, pod);
  send({ report: 'started', name, pid: pod.pid ?? null, log });
  const ended = (how: string) => {
    pods.delete(name);
    if (ending && pods.size === 0) process.exit();
    // Another demo bound it between our look and now: this pod takes any that is free, and its log says which.
    if (env['PORT'] !== '0' && isPortTaken(log)) return start({ ...order, env: { ...env, PORT: '0' } }, launch + 1);
    send({ report: 'ended', name, how });
    systemClock.after(RESTART_MS, () => start(order, launch + 1));
  };
  pod.once('error', (error) => ended(error.message));
  pod.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
}

function isPortTaken(log: string): boolean {
  return readFileSync(log, 'utf8').includes('EADDRINUSE');
}

/** A frozen pod gets SIGTERM when it continues. */
function stop(): void {
  stopping = true;
  for (const pod of pods.values()) for (const signal of ['SIGTERM', 'SIGCONT'] as const) pod.kill(signal);
}

/** SIGKILL also ends a frozen pod. Waiting for the pods leaves no zombies to the process that inherits orphans. */
function end(): void {
  ending = true;
  for (const pod of pods.values()) pod.kill('SIGKILL');
  if (pods.size === 0) process.exit();
}

function send(report: Report): void {
  // The demo may die at this very moment; "disconnect" follows.
  process.send?.(report, undefined, {}, () => {});
}
