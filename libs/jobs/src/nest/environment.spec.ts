import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusals.js';
import { jobsEnvironment } from './environment.js';
import { chosenRoles } from './pod-roles.js';

describe('jobsEnvironment', () => {
  it('reads the name and the revision of the application, and takes an empty variable for an absent one', () => {
    expect(jobsEnvironment({ FENCEPOST_APP: '@shop/mail', FENCEPOST_REVISION: '42' })).toMatchObject({
      app: '@shop/mail',
      revision: 42,
    });
    const absent = { app: undefined, revision: undefined };
    expect(jobsEnvironment({})).toMatchObject(absent);
    expect(jobsEnvironment({ FENCEPOST_APP: '', FENCEPOST_REVISION: '' })).toMatchObject(absent);
  });

  it.each([
    [
      { FENCEPOST_APP: 'a b' },
      'FENCEPOST_APP: expected a package name, such as "reports" or "@shop/reports", got "a b".',
    ],
    [{ FENCEPOST_REVISION: '0' }, 'FENCEPOST_REVISION: expected a whole number from 1 to 9999999999'],
    [{ FENCEPOST_REVISION: '4f2a91c' }, 'such as the number of the build, got "4f2a91c".'],
    [{ FENCEPOST_REVISION: '10000000000' }, 'got "10000000000".'],
  ])('refuses %j with one sentence', (variables, sentence) => {
    expect(() => jobsEnvironment(variables)).toThrow(sentence);
  });

  it.each([
    ['none', []],
    ['scheduler', ['scheduler']],
    ['worker', ['worker']],
    ['scheduler,worker', ['scheduler', 'worker']],
    [' worker , scheduler,worker ', ['worker', 'scheduler']],
    ['', undefined],
    [' ', undefined],
    [undefined, undefined],
  ])('reads FENCEPOST_ROLES %j as %j', (text, roles) => {
    expect(jobsEnvironment({ FENCEPOST_ROLES: text }).roles).toEqual(roles);
  });

  it.each(['cleaner', 'worker,none', 'Worker', 'scheduler worker', 'toString', 'worker,'])(
    'refuses %j as FENCEPOST_ROLES in one sentence',
    (text) => {
      const expected = 'FENCEPOST_ROLES: expected none, scheduler, worker or scheduler,worker, got';
      expect(refusalOf(SetupError, () => jobsEnvironment({ FENCEPOST_ROLES: text }))).toBe(`${expected} "${text}".`);
    },
  );
});

describe('chosenRoles', () => {
  it('prefers the environment over the code', () => {
    expect(chosenRoles(['scheduler', 'worker'], { roles: ['worker'] })).toEqual({
      roles: ['worker'],
      by: 'FENCEPOST_ROLES=worker',
      isNamed: true,
    });
    expect(chosenRoles(['worker'], { roles: [] })).toMatchObject({ roles: [], by: 'FENCEPOST_ROLES=none' });
  });

  it('keeps the roles of the code where the environment names none', () => {
    expect(chosenRoles([], { roles: undefined })).toEqual({ roles: [], by: 'roles: []', isNamed: false });
    expect(chosenRoles(['worker'], { roles: undefined }).roles).toEqual(['worker']);
  });
});
