import { fenceGateContract } from '../../../../test/contracts/fence-gate.contract.js';
import { MemoryFenceGate } from './fence-gate.js';

fenceGateContract('a gate in memory', (options) => new MemoryFenceGate(options));
