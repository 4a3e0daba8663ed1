import { execFileSync } from 'node:child_process';
import { onPath } from '../../scripts/debian.mjs';
import { availableParallelism } from 'node:os';

/**
 * Processes that run before whatever else the machine has to do, where `chrt` is there and may (root, as a rule). Else what
 * waits for a reply and is woken by it waits for a time slice of somebody else first, some milliseconds, now and then; of a
 * p99 nothing else is left.
 */
const chrt = onPath('chrt');
const LOWEST_REAL_TIME = ['--rr', '1'];

export const canGoFirst = chrt !== undefined && succeeds([...LOWEST_REAL_TIME, process.execPath, '--version']);

/** @param {number | undefined} pid with all its threads */
export function goFirst(pid) {
  if (canGoFirst && pid) succeeds(['--all-tasks', '--rr', '--pid', '1', `${pid}`]);
}

function succeeds(args) {
  try {
    execFileSync(chrt, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

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

/** Options for `fork`. @param {string} program what runs there */
export function onTheCpu(program) {
  return taskset ? { execPath: taskset, execArgv: ['-c', CPU, program] } : { execPath: program };
}
