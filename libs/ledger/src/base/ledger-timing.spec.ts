import { expect, it } from 'vitest';
import { cadence } from '../../../../test/simulation/cadence.js';
import { LEDGER_TIMING } from './ledger-timing.js';

it('the ledger of the simulation waits in the proportions of a real one', () => {
  expect(LEDGER_TIMING).toMatchObject(cadence(1_000).ledger);
});
