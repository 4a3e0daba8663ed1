import type { JobsEnvironment } from './environment.js';
import type { Role } from './options.js';
import type { RoleFacts } from '../pods/pod-reporter.js';

export type { RoleFacts } from '../pods/pod-reporter.js';

/** The roles of this process, and what set them. */
export interface ChosenRoles {
  readonly roles: readonly Role[];
  /** The setting as written: `roles: []`, `FENCEPOST_ROLES=none` or `enabled: false`. */
  readonly by: string;
  /** Whether `FENCEPOST_ROLES` set them: they are intended for this process. */
  readonly isNamed: boolean;
}

/** The environment overrides the code: one image serves as scheduler, worker and script. */
export function chosenRoles(inCode: readonly Role[], { roles: named }: Pick<JobsEnvironment, 'roles'>): ChosenRoles {
  if (named === undefined) return { roles: inCode, by: `roles: ${JSON.stringify(inCode)}`, isNamed: false };
  return { roles: named, by: `FENCEPOST_ROLES=${named.join() || 'none'}`, isNamed: true };
}

type Begun = () => RoleFacts;

/** What it returns is waited for. */
type Listener = (role: Begun) => Promise<void> | void;

/** The roles of this process that have begun, for the pod's card and the line that it logs at boot. */
export class PodRoles {
  readonly #begun: Begun[] = [];
  readonly #listeners: Listener[] = [];

  /** Resolves when the pod has reported the role. */
  async begin(role: Begun): Promise<void> {
    this.#begun.push(role);
    for (const listener of this.#listeners) await listener(role);
  }

  /** Called for each role, including those that have begun already. */
  listen(listener: Listener): void {
    this.#listeners.push(listener);
    for (const role of this.#begun) void listener(role);
  }

  /** Calls the listener once, when as many roles have begun as the process has. */
  whenAllBegun({ roles }: Pick<ChosenRoles, 'roles'>, listener: (begun: readonly Begun[]) => void): void {
    const begun: Begun[] = [];
    this.listen((role) => {
      if (begun.push(role) === roles.length) listener(begun);
    });
  }
}
