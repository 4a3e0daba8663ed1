import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

/** npm passes Ctrl-C on to what the terminal has told already; what comes this soon is the same key press. */
const SAME_PRESS_MS = 500;
/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGWINCH'];
const GRACE_MS = 2_000;
const LOOK_AGAIN_MS = 50;

/**
 * Runs a Node program in front of the person: its streams are ours, and a signal we get is passed on once. It leads a
 * process group of its own, so that no child of it is left when it is gone.
 * @param {string[]} args what comes after `node`
 * @param {NodeJS.ProcessEnv} env
 * @param {{ stdout?: 'inherit' | 'pipe', stderr?: 'inherit' | 'pipe', yielding?: boolean }} [options] what is piped is not
 *   shown; with `yielding` it runs when other programs leave a processor idle
 * @returns {Promise<{ code: number, leftovers: boolean, out: string }>} its exit code, whether it left processes, which are
 *   ended, and what was piped
 */
export async function runInFront(args, env, { stdout = 'inherit', stderr = 'inherit', yielding = false } = {}) {
  const child = spawn(process.execPath, args, { stdio: ['inherit', stdout, stderr], detached: true, env });
  if (yielding) yieldTo(child.pid);
  const stopForwarding = forwardSignals(child);
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (out += text));
  const [code, signal] = await once(child, stdout === 'pipe' || stderr === 'pipe' ? 'close' : 'exit');
  stopForwarding();
  return { code: code ?? 128 + constants.signals[signal], leftovers: await endGroup(child.pid), out };
}

const LOWEST_PRIORITY = 19;

/** Linux may divide processor time between sessions first, and this process leads one: its session yields too. Best effort. */
function yieldTo(pid) {
  try {
    setPriority(pid, LOWEST_PRIORITY);
    writeFileSync(`/proc/${pid}/autogroup`, `${LOWEST_PRIORITY}`);
  } catch {
    // It has ended, or this kernel has no such groups.
  }
}

/**
 * @param {{ kill: (signal: NodeJS.Signals) => unknown }} child
 * @param {{ source?: NodeJS.EventEmitter, now?: () => number }} [terminal] where signals come from, and a clock in ms
 * @returns {() => void} stops forwarding
 */
export function forwardSignals(child, { source = process, now = () => performance.now() } = {}) {
  const forwarders = FORWARDED.map((signal) => {
    let last = -Infinity;
    const forward = () => {
      const again = now() - last <= SAME_PRESS_MS && signal !== 'SIGWINCH';
      if (again) return;
      last = now();
      child.kill(signal);
    };
    source.on(signal, forward);
    return () => source.off(signal, forward);
  });
  return () => forwarders.forEach((stop) => stop());
}

/** What is merely on its way out gets its moment; the rest is ended, and that is told. */
async function endGroup(leader) {
  for (const since = performance.now(); performance.now() - since < GRACE_MS; await wait(LOOK_AGAIN_MS)) {
    if (!signalGroup(leader, 0)) return false;
  }
  return signalGroup(leader, 'SIGKILL');
}

function signalGroup(leader, signal) {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}
