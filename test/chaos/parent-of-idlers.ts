import { spawn } from 'node:child_process';
import { outlivesNobody } from '../support/outlives-nobody.js';

/* A program that starts two processes that never end, freezes one of them, and tells their numbers. */
const idlers = [0, 1].map(() => {
  const idler = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { stdio: 'ignore' });
  outlivesNobody(idler);
  return idler;
});
idlers[0]?.kill('SIGSTOP');
console.log(JSON.stringify(idlers.map(({ pid }) => pid)));
