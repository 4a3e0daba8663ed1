import { expect, it } from 'vitest';
import { TESTS } from '../../examples/test-your-jobs.js';

it.each(Object.entries(TESTS))('the documented test holds: %s', async (_name, test) => {
  await expect(test()).resolves.toBeUndefined();
});
