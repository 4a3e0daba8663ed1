import type { PrivateEtcd } from './etcd.js';

/** Asks etcd itself, past the store. A `token` in the body goes where it belongs. */
export async function askEtcd(
  etcd: PrivateEtcd,
  path: string,
  { token, ...body }: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const headers = typeof token === 'string' ? { authorization: token } : {};
  const response = await fetch(`${etcd.endpoint}/v3/${path}`, { method: 'POST', body: JSON.stringify(body), headers });
  if (!response.ok) throw new Error(`etcd refused ${path}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** How many leases etcd has, those that no key hangs on included. */
export async function countLeases(etcd: PrivateEtcd): Promise<number> {
  const { leases = [] } = (await askEtcd(etcd, 'lease/leases')) as { leases?: unknown[] };
  return leases.length;
}

/** The member that leads, and the others. */
export async function byRole(
  cluster: readonly PrivateEtcd[],
): Promise<{ readonly leader: PrivateEtcd; readonly followers: PrivateEtcd[] }> {
  const isLeader = async (member: PrivateEtcd) => {
    const { leader, header } = await askEtcd(member, 'maintenance/status');
    return (header as { member_id: string }).member_id === leader;
  };
  const leading = await Promise.all(cluster.map(isLeader));
  const leader = cluster[leading.indexOf(true)];
  if (!leader) throw new Error('Expected the cluster to have a leader.');
  return { leader, followers: cluster.filter((member) => member !== leader) };
}

/** `fetch` with something happening before the first request whose body holds `text` is sent: a delay at the worst moment. */
export function fetchAfter(text: string, happening: () => Promise<unknown>): typeof fetch {
  let waiting = true;
  return async (input, init) => {
    if (waiting && typeof init?.body === 'string' && init.body.includes(text)) {
      waiting = false;
      await happening();
    }
    return fetch(input, init);
  };
}
