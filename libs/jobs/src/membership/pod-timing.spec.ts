import { expect, it } from 'vitest';
import { cadence } from '../../../../test/simulation/cadence.js';
import { POD_TIMING } from './pod-timing.js';

it('a pod of the simulation waits in the proportions of a real one', () => {
  expect(cadence(POD_TIMING.heartbeatMs).pod).toEqual(POD_TIMING);
});
