import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';

/** Generous: an installation over a slow line, or on a machine that has much else to do. */
const PATIENCE_MS = 900_000;
const SHOWN_LINES = 30;

/** What `npm run` and this project's own programs put into the environment, and a stranger's shell does not have. */
const OURS =
  /^(npm_(?!config_(cache|registry|userconfig|globalconfig)$)|INIT_CWD|NODE_(?!EXTRA_CA_CERTS$)|VITEST|REDIS_|FENCEPOST_|DATABASE_)/i;

/**
 * The environment of a stranger's shell.
 * @param {string} [node] a folder whose `node` comes first
 * @returns {NodeJS.ProcessEnv}
 */
export function strangersEnv(node) {
  const kept = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !/node_modules|node-gyp/.test(folder));
  const path = [...(node ? [node] : []), ...folders].join(delimiter);
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true', CI: 'true' };
  return { ...Object.fromEntries(kept), ...quiet, PATH: path, NO_COLOR: '1' };
}

/**
 * Types a line into a shell and waits for its end.
 * @param {string} line
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} at
 * @returns {Promise<string>} its stdout
 * @throws {Error} if it fails: the line, its exit code, and the end of what it printed
 */
export async function type(line, { cwd, env }) {
  const child = spawn('sh', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS });
  let [out, all] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => ((out += text), (all += text)));
  child.stderr.setEncoding('utf8').on('data', (text) => (all += text));
  const [code, signal] = await once(child, 'close');
  if (code === 0) return out;
  const end = all.trim().split('\n').slice(-SHOWN_LINES).join('\n');
  throw new Error(`"${line}" ended with ${code ?? signal}:\n${end}`);
}
