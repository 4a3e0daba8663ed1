import { SetupError } from './errors.js';

const OLDEST = [6, 2] as const;

/**
 * Refuses a server that can't keep what it was told.
 * @param info the reply to INFO
 * @throws {SetupError}
 */
export function checkServer(info: string, address: string): void {
  const fields = new Map([...info.matchAll(/^([a-z_]+):([^\r\n]*)/gm)].map(([, key, value]) => [key, value]));
  checkVersion(fields.get('redis_version') ?? 'unknown', address);
  const policy = fields.get('maxmemory_policy') ?? 'noeviction';
  if (policy === 'noeviction') return;
  throw new SetupError(
    `Expected maxmemory-policy noeviction on the Redis at ${address}, found ${policy}: a full server would delete leases ` +
      `and runs. Set it with: CONFIG SET maxmemory-policy noeviction.`,
  );
}

function checkVersion(version: string, address: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new SetupError(
    `Expected Redis ${OLDEST.join('.')} or newer at ${address}, found version ${version}. Upgrade it, or use Valkey.`,
  );
}
