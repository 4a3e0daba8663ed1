/**
 * What can be wrong with a cron that is watched. `missed`: it has not succeeded for as long as it is expected to, or nobody
 * has accounted for an instant. `late`: a run has not ended in time. `failed`: its newest run that ended has failed.
 * `uncertain`: a run waits for a person. `no-capable-worker`: a run waits for a worker that can carry it out.
 */
export type AlarmKind = 'missed' | 'late' | 'failed' | 'uncertain' | 'no-capable-worker';

export interface Alarm {
  readonly kind: AlarmKind;
  /** Since when it is so, epoch milliseconds of the store. */
  readonly since: number;
  /** One sentence for a person. */
  readonly text: string;
  /** The run that it is about, where it is about one. */
  readonly runId: string | null;
  /** With `uncertain`: after which attempt, because it may be so again after the next one. */
  readonly attempt?: number;
}

/** An alarm has been raised or cleared, and somebody is to hear of it. */
export interface AlarmChange extends Alarm {
  readonly cron: string;
  readonly news: 'raised' | 'cleared';
  /** The same for the same news, whoever tells it and however often. */
  readonly id: string;
}
