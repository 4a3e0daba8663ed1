import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { onPath } from '../../scripts/debian.mjs';

/**
 * Client and server on one processor, where `taskset` is there. On two, a lone round trip takes three times as long when the
 * scheduler woke the other one from idle as when it didn't, and that has nothing to do with who is measured.
 */
const taskset = onPath('taskset');
const CPU = `${availableParallelism() - 1}`;

export const canPin = taskset !== undefined;

/** @param {number | undefined} pid */
export function pin(pid) {
  if (taskset && pid) execFileSync(taskset, ['-cp', CPU, `${pid}`], { stdio: 'ignore' });
}

/** Options for `fork`. */
export function onTheCpu() {
  return taskset ? { execPath: taskset, execArgv: ['-c', CPU, process.execPath] } : {};
}
