import { spawnSync } from 'node:child_process';
import { root } from './exclusive.mjs';

/**
 * Runs an installed tool at the root of the project, without npx, which would go and look for one that is missing. Its
 * words go to stderr: stdout may be the JSON that somebody reads.
 * @param {string} name the command's name in node_modules/.bin, or a script's path from the root
 * @param {string[]} args
 * @returns {boolean} whether it ended well
 */
export function tool(name, args) {
  return start(name, args, ['ignore', 2, 2]).status === 0;
}

/**
 * The same, and hands its words back instead.
 * @param {string} name
 * @param {string[]} args
 * @returns {{ well: boolean, said: string }}
 */
export function listen(name, args) {
  const { status, stdout, stderr } = start(name, args, ['ignore', 'pipe', 'pipe']);
  return { well: status === 0, said: `${stdout}${stderr}`.trim() };
}

function start(name, args, stdio) {
  const options = { cwd: root, stdio, encoding: 'utf8', maxBuffer: 1 << 26 };
  const [command, before] = name.endsWith('.mjs') ? [process.execPath, [name]] : [`node_modules/.bin/${name}`, []];
  const ended = spawnSync(command, [...before, ...args], options);
  if (ended.error) throw new Error(`"${name}" could not be started: ${ended.error.message}.`);
  return ended;
}
