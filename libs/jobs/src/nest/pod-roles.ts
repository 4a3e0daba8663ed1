/** What a role knows of itself; it changes from one report of the pod to the next. */
export interface RoleFacts {
  /** How many crons are assigned to this scheduler. */
  readonly assigned?: number;
  /** How many leases of crons it holds. */
  readonly held?: number;
  /** How late the oldest cron is that it has not dispatched, milliseconds, and how many such crons there are. */
  readonly lateMs?: number;
  readonly backlog?: number;
  /** The weight that it announces; below 1 for a pod that was behind for long. */
  readonly weight?: number;
  /** The servers of the quorum on which it keeps leases; none where that is no quorum. */
  readonly leaseNodes?: readonly { readonly node: string; readonly healthy: boolean }[];
  /** How many runs this worker executes at most, and executes now. */
  readonly concurrency?: number;
  readonly running?: number;
  /** The crons and jobs it has handlers for, and those among them whose correctness depends on durable stores. */
  readonly handlers?: readonly string[];
  readonly critical?: readonly string[];
}

type Role = () => RoleFacts;

/** The roles of this process that have begun, for the pod's card and the line that it logs at boot. */
export class PodRoles {
  readonly #begun: Role[] = [];
  readonly #listeners: ((role: Role) => void)[] = [];

  begin(role: Role): void {
    this.#begun.push(role);
    for (const listener of this.#listeners) listener(role);
  }

  /** Called for each role, including those that have begun already. */
  listen(listener: (role: Role) => void): void {
    this.#listeners.push(listener);
    this.#begun.forEach(listener);
  }
}
