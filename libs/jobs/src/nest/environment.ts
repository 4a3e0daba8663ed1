import { MAX_EXPLICIT, MIN_EXPLICIT } from '@fencepost/ledger/catalog';
import { SetupError } from '@fencepost/lease';
import { APP_NAME } from './application.js';
import { poolName } from './handler-options.js';
import { isRole, type Role } from './role.js';

/** Variables that `JobsModule` reads itself: what an operator chooses for one process. */
export interface JobsEnvironment {
  /** `FENCEPOST_ROLES`, which overrides the code; `undefined`: the code decides. */
  readonly roles: readonly Role[] | undefined;
  /** `FENCEPOST_APP`; `undefined`: the package decides. */
  readonly app: string | undefined;
  /** `FENCEPOST_REVISION`; `undefined`: the store decides. */
  readonly revision: number | undefined;
  /** `FENCEPOST_POOLS`; `undefined`: the code decides. */
  readonly pools: readonly string[] | undefined;
}

/**
 * Reads the variables of this process. An empty one counts as absent, as in a compose file or a Kubernetes manifest.
 * @throws {SetupError} naming the variable, what was expected, and what came
 */
export function jobsEnvironment(variables: NodeJS.ProcessEnv = process.env): JobsEnvironment {
  return {
    roles: rolesFrom(variables['FENCEPOST_ROLES']),
    app: appFrom(variables['FENCEPOST_APP']),
    revision: revisionFrom(variables['FENCEPOST_REVISION']),
    pools: poolsFrom(variables['FENCEPOST_POOLS']),
  };
}

const NO_ROLE = 'none';

function rolesFrom(text = ''): readonly Role[] | undefined {
  const words = text.split(',').map((word) => word.trim());
  if (words.join('') === '') return undefined;
  if (words.join() === NO_ROLE) return [];
  if (words.every(isRole)) return [...new Set(words)];
  throw new SetupError(
    `FENCEPOST_ROLES: expected ${NO_ROLE}, scheduler, worker or scheduler,worker, got ${JSON.stringify(text)}.`,
  );
}

function appFrom(text = ''): string | undefined {
  if (text === '') return undefined;
  if (APP_NAME.test(text)) return text;
  throw new SetupError(
    `FENCEPOST_APP: expected a package name, such as "reports" or "@shop/reports", got ${JSON.stringify(text)}.`,
  );
}

function poolsFrom(text = ''): readonly string[] | undefined {
  const names = text.split(',').map((name) => name.trim());
  if (names.join('') === '') return undefined;
  if (names.every((name) => poolName.safeParse(name).success)) return [...new Set(names)];
  throw new SetupError(`FENCEPOST_POOLS: expected pools such as default,heavy, got ${JSON.stringify(text)}.`);
}

function revisionFrom(text = ''): number | undefined {
  if (text === '') return undefined;
  const revision = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (revision >= MIN_EXPLICIT && revision <= MAX_EXPLICIT) return revision;
  throw new SetupError(
    `FENCEPOST_REVISION: expected a whole number from ${MIN_EXPLICIT} to ${MAX_EXPLICIT}, such as the number of the build, ` +
      `got ${JSON.stringify(text)}.`,
  );
}
