import { describe, expect, it } from 'vitest';
import { isForbidden } from './forbidden-address.js';

describe('an address where nobody is called', () => {
  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '[fe80::1]',
    'fd00:ec2::254',
    '[::ffff:169.254.169.254]',
    '::ffff:a9fe:a9fe',
  ])('is %s, whatever its spelling', (address) => {
    expect(isForbidden(address)).toBe(true);
  });

  it.each(['127.0.0.1', '10.0.0.1', '[::1]', 'alerts.internal', '8.8.8.8'])('is not %s', (address) => {
    expect(isForbidden(address)).toBe(false);
  });
});
