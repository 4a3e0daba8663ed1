import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import type { Writable } from 'node:stream';

/** Reads a pipe from us, which the kernel closes however this process ends; it ends those that are frozen, too. */
const GUARD = `live=" "
while read -r what pid; do
  case "$what" in
    born) live="$live$pid " ;;
    dead) live="\${live%% $pid *} \${live#* $pid }" ;;
  esac
done
kill -9 $live 2> /dev/null`;

let guard: ChildProcessByStdio<Writable, null, null> | undefined;

/** Ends the process when this one is gone, be it by a SIGKILL: nobody would ask for it any more, and nobody would end it. */
export function outlivesNobody(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  tell(`born ${pid}`);
  child.once('exit', () => tell(`dead ${pid}`));
}

function tell(line: string): void {
  guard ??= startGuard();
  guard.stdin.write(`${line}\n`);
}

function startGuard(): ChildProcessByStdio<Writable, null, null> {
  // Detached, so that Ctrl-C does not end it before those it is there for.
  const shell = spawn('/bin/sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // It is no reason for this process to go on.
  shell.unref();
  (shell.stdin as Writable & { unref?: () => void }).unref?.();
  shell.stdin.on('error', () => {});
  return shell;
}
