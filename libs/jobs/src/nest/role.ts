/** What a process does: acquire the leases of crons and enqueue their occurrences, or run them. */
export type Role = 'scheduler' | 'worker';

const ROLES: ReadonlySet<unknown> = new Set<Role>(['scheduler', 'worker']);

export function isRole(value: unknown): value is Role {
  return ROLES.has(value);
}
