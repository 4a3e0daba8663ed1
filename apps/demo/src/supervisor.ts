import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Order, Report } from './supervision.js';

/**
 * A process of its own, and the parent of all pods: the kernel closes its channel to the demo also when the demo is gone
 * by SIGKILL, which no exit handler sees, and then it ends them. It leads a session of its own, so that Ctrl-C in a
 * terminal reaches the demo alone, and the pods are there until their runs are through.
 */
const pods = new Map<string, ChildProcess>();
let ending = false;

process.on('message', (order: Order) => {
  if (order.order === 'start') start(order);
  else pods.get(order.name)?.kill(order.signal);
});
process.on('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);

function start({ name, program, env, log }: Extract<Order, { order: 'start' }>): void {
  const file = openSync(log, 'a');
  const pod = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  pods.set(name, pod);
  tell({ report: 'started', name, pid: pod.pid ?? null });
  pod.once('error', (error) => ended(name, error.message));
  pod.once('exit', (code, signal) => ended(name, signal ?? `exit code ${code}`));
}

function ended(name: string, how: string): void {
  pods.delete(name);
  if (ending) leave();
  else tell({ report: 'ended', name, how });
}

/** SIGKILL also ends a pod that is frozen or hangs; waiting for them keeps zombies from whoever inherits orphans. */
function end(): void {
  ending = true;
  for (const pod of pods.values()) pod.kill('SIGKILL');
  leave();
}

function leave(): void {
  if (pods.size === 0) process.exit();
}

function tell(report: Report): void {
  // The demo may be gone at this very moment; "disconnect" follows.
  process.send?.(report, undefined, {}, () => {});
}
