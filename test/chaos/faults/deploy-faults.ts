import type { Fault } from '../fault.js';
import type { Fleet } from '../fleet.js';

/** A newer build that comes while everything else goes wrong, too. */
export function deployFaults(fleet: Fleet): Fault[] {
  return [{ kind: 'rolling-restart', target: 'process', weight: 0.5, strike: (_, signal) => fleet.deploy(signal) }];
}
