/** The words of the lease store contract, for tests that say more about a store. */
export {
  ABOVE_THE_CLOCK,
  TTL_MS,
  request,
  winFrom as win,
} from '../../libs/lease/src/testing/lease-store-contract/stage.js';
