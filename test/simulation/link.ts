import type { SimProcess } from './sim-process.js';

export const PORTS = ['ledger', 'leases', 'catalog', 'membership', 'queue'] as const;
export type PortName = (typeof PORTS)[number];

export interface Link {
  readonly process: SimProcess;
  readonly port: PortName;
}
