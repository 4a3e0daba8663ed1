import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Where machines hand out their credentials, and everything else of a link. It also knows these addresses within IPv6. */
const FORBIDDEN = new BlockList();
FORBIDDEN.addSubnet('169.254.0.0', 16, 'ipv4');
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
FORBIDDEN.addSubnet('fd00:ec2::', 32, 'ipv6');

/** Whether nobody may be called there, also not by a name that somebody has allowed. */
export function isForbidden(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '');
  const family = isIP(plain);
  return family !== 0 && FORBIDDEN.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/** The look-up of a name that ends in an error when one of its addresses is forbidden: the others may be there to hide it. */
export const lookUp: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, options, (error: Error | null, found: string | LookupAddress[], family?: number) => {
    const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
    const refused = addresses.some(isForbidden) ? new Error(`${hostname} is not allowed`) : error;
    callback(refused, found, family);
  });
};
