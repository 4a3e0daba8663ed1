import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { parseFence } from '../base/fence.js';
import { BadFenceHeadersError, fenceHeaders, readFenceHeaders } from './fence-headers.js';

const LEASE = { resource: 'order:1', fence: parseFence('1787654321123456') };

describe('fence headers', () => {
  it('carry the fence in full', () => {
    expect(fenceHeaders(LEASE)).toEqual({
      'fencepost-resource': 'order%3A1',
      'fencepost-fence': '1787654321123456',
    });
  });

  it.each(['order:1', 'Grüße/注文', 'a, b', '100 %', 'x\r\nset-cookie: y'])('bring %j over safely', (resource) => {
    const sent = fenceHeaders({ ...LEASE, resource });
    expect(sent['fencepost-resource']).toMatch(/^[\x21-\x7e]+$/);
    expect(readFenceHeaders(new Headers(sent))).toEqual({ ...LEASE, resource });
  });

  it('refuse half of a surrogate pair', () => {
    expect(() => fenceHeaders({ ...LEASE, resource: '\ud800' })).toThrow(SetupError);
  });

  it.each([
    ['Fetch', new Headers(fenceHeaders(LEASE))],
    ['Node and Express', fenceHeaders(LEASE)],
    ['a list per name', { 'fencepost-resource': ['order%3A1'], 'fencepost-fence': [`${LEASE.fence}`] }],
    ['capital letters', { 'Fencepost-Resource': 'order%3A1', 'FENCEPOST-FENCE': `${LEASE.fence}`, other: undefined }],
  ])('are read in the shape of %s', (_shape, headers) => {
    expect(readFenceHeaders(headers)).toEqual(LEASE);
  });

  const [resource, fence] = ['order%3A1', '42'];
  it.each([
    ['fencepost-resource', { 'fencepost-fence': fence }, 'nothing'],
    ['fencepost-fence', { 'fencepost-resource': resource }, 'nothing'],
    ['fencepost-fence', new Headers({ 'fencepost-resource': resource }), 'nothing'],
    ['fencepost-fence', { 'fencepost-resource': resource, 'fencepost-fence': '4e2' }, '"4e2"'],
    ['fencepost-fence', { 'fencepost-resource': resource, 'fencepost-fence': '0' }, '"0"'],
    ['fencepost-fence', { 'fencepost-resource': resource, 'fencepost-fence': '042' }, '"042"'],
    ['fencepost-fence', { 'fencepost-resource': resource, 'fencepost-fence': '41, 42' }, '"41, 42"'],
    ['fencepost-fence', { 'fencepost-resource': resource, 'fencepost-fence': ['41', '42'] }, '"41" and "42"'],
    [
      'fencepost-fence',
      { 'fencepost-resource': resource, 'fencepost-fence': '9007199254740992' },
      '"9007199254740992"',
    ],
    ['fencepost-resource', { 'fencepost-resource': '', 'fencepost-fence': fence }, '""'],
    ['fencepost-resource', { 'fencepost-resource': 'a%2', 'fencepost-fence': fence }, '"a%2"'],
    ['fencepost-resource', { 'fencepost-resource': 'a, b', 'fencepost-fence': fence }, '"a, b"'],
    ['fencepost-resource', { 'fencepost-resource': 'ü', 'fencepost-fence': fence }, '"ü"'],
  ])('are refused with one sentence about %s', (name, headers, got) => {
    const read = () => readFenceHeaders(headers);
    expect(read).toThrow(BadFenceHeadersError);
    expect(read).toThrow(expect.objectContaining({ code: 'BAD_FENCE_HEADERS' }));
    expect(read).toThrow(new RegExp(`^Expected the header "${name}" once, with [^.]+, got ${got}\\.$`));
  });
});
