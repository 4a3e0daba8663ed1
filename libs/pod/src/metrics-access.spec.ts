import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { MetricsAccess } from './metrics-access.js';
import { newToken } from '@fencepost/operations/access-tokens';

const viewer = newToken('prometheus', 'viewer');
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}`, host: 'pod:3000' });

describe('the metrics of a pod without a door of its own', () => {
  it('are for whoever is on the machine, while the pod listens there alone and no token is known', () => {
    const access = new MetricsAccess({ host: '127.0.0.1' });
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000']) expect(access.admits({ host }), host).toBe(true);
  });

  it('are not for a page whose name only resolves to the machine', () => {
    expect(new MetricsAccess({ host: '127.0.0.1' }).admits({ host: 'attacker.example:3000' })).toBe(false);
  });

  it('are for nobody without a token once the pod listens beyond the machine', () => {
    expect(new MetricsAccess({ host: '0.0.0.0' }).admits({ host: 'localhost:3000' })).toBe(false);
  });

  it('are for a viewer, and for nobody whose token is not known', () => {
    const access = new MetricsAccess({ host: '127.0.0.1', tokens: viewer.line });
    expect(access.admits(bearer(viewer.secret))).toBe(true);
    expect(access.admits(bearer(newToken('other', 'admin').secret))).toBe(false);
    expect(access.admits({ host: 'localhost:3000' })).toBe(false);
  });

  it('are for everybody where somebody has said so', () => {
    expect(new MetricsAccess({ host: '0.0.0.0', open: true }).admits({})).toBe(true);
  });

  it('are no reason to start with tokens that can not be read', () => {
    expect(() => new MetricsAccess({ host: '127.0.0.1', tokensFile: '/nowhere/tokens' })).toThrow(SetupError);
  });
});
