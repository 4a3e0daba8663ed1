/** Why a first connection failed, in one sentence that says what to do. Never contains more than `address` shows. */
export function describeFailure(address: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const known = FAILURES.find(([pattern]) => pattern.test(message));
  return `Expected a Redis at ${address}, but ${known ? known[1] : `connecting failed: ${message}`}`;
}

const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there (ECONNREFUSED). Start Redis, or correct the address.'],
  [/ENOTFOUND|EAI_AGAIN/, 'its host name cannot be resolved. Correct the address, or the name service.'],
  [
    /ETIMEDOUT|timed out|EHOSTUNREACH|ENETUNREACH/,
    'it did not answer in time. Check the address, the firewall and the server.',
  ],
  [/WRONGPASS|invalid password/, 'it refused the user or the password (WRONGPASS). Correct them in the address.'],
  [/NOAUTH/, 'it wants a password (NOAUTH). Put one into the address: redis://:<password>@<host>:<port>.'],
  [
    /NOPERM/,
    'its user may not run INFO, so its version and settings are unknown. Allow it with: ACL SETUSER <user> +info.',
  ],
  [/cluster support disabled/, 'it is not a cluster. Connect with { url } instead of { cluster }.'],
  [/cluster is not whole|CLUSTERDOWN/, 'some of its slots are not served. Check CLUSTER INFO and repair the cluster.'],
  [/invalid reply|No such master/, 'they know no primary of that name. Correct the name.'],
  [
    /All sentinels|to connect to sentinel|refresh slots|startup nodes/,
    'none of them answers. Start them, or correct their addresses.',
  ],
  [/DB index|SELECT/i, 'it does not have the database at the end of the address. Use an existing one, such as /0.'],
  [/loading the dataset/i, 'it is still loading its data. Try again when it has finished.'],
  [/Unknown RESP|Protocol error/, 'what answers there is not a Redis. Correct the address.'],
  [
    /Connection is closed|ECONNRESET|EPIPE/,
    'it closed the connection. Check that it is a Redis, and redis:// or rediss:// (TLS).',
  ],
];
