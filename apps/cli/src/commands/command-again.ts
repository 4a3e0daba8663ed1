import type { DeploymentFlags } from '../deployment/with-deployment.js';

interface Again extends DeploymentFlags {
  readonly by?: string;
  readonly reason: string;
}

/** What a shell takes to go on; an address with credentials is left to the environment. */
export function commandAgain(command: string, args: readonly string[], flags: Again): string {
  const { redis, postgres, url, prefix, tenant, schema, by, reason } = flags;
  const given = Object.entries({ url, prefix, tenant, schema, by }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, quoted(value)],
  );
  const address = (name: string, at: string | undefined, variable: string) =>
    at === undefined ? [] : [`--${name}`, at.includes('@') ? `"$${variable}"` : quoted(at)];
  return [
    ...['fencepost', command, ...args.map(quoted), '--reason', quoted(reason)],
    ...[...address('redis', redis, 'REDIS_URL'), ...address('postgres', postgres, 'DATABASE_URL'), ...given],
  ].join(' ');
}

function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
