import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { hashResource, ownerPrefix, processIdentity } from './identity.js';

describe('the identity of a process', () => {
  it('is random, with the host name as its label', () => {
    expect(processIdentity()).toMatch(/^[A-Za-z0-9._-]+\/[0-9a-f-]{36}$/);
    expect(processIdentity().startsWith(hostname().slice(0, 5))).toBe(true);
    expect(processIdentity('pod')).not.toBe(processIdentity('pod'));
  });

  it('has no slash or blank in its label', () => {
    expect(processIdentity('my pod/7')).toMatch(/^my-pod-7\//);
  });

  it('is shown in logs by label and eight characters', () => {
    expect(ownerPrefix('pod-7/0192e4a1-0000-4000-8000-000000000000')).toBe('pod-7/0192e4a1');
    expect(ownerPrefix('0192e4a1-0000')).toBe('0192e4a1');
  });
});

describe('hashResource', () => {
  it('shows the same resource the same way, and not its name', () => {
    expect(hashResource('customer-42')).toMatch(/^[0-9a-f]{12}$/);
    expect(hashResource('customer-42')).toBe(hashResource('customer-42'));
    expect(hashResource('customer-42')).not.toBe(hashResource('customer-43'));
  });
});
