export type PodRole = 'scheduler' | 'worker';

/** `killed` and `frozen` were done to it; `ended` is its own doing. */
export type PodState = 'starting' | 'up' | 'frozen' | 'killed' | 'ended' | 'restarting' | 'stopping' | 'stopped';

export interface Pod {
  readonly name: string;
  readonly role: PodRole;
  readonly port: number;
  readonly pid: number | null;
  readonly state: PodState;
}

export const SCHEDULERS = 3;
export const WORKERS = 2;

/** Not longer than it takes to see something happen. Workers keep a run somewhat longer than schedulers keep a cron. */
export const LEASE_MS = { scheduler: 2_000, worker: 3_000 } as const;
