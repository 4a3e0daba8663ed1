import type { HandlerOptions } from '@fencepost/jobs/internal';
import type { SingletonCronOptions } from '@fencepost/jobs';

/** A cron as it is made at run time: the options of `@SingletonCron` but `name` and those that stand at the method. */
export interface CronSettings extends Omit<SingletonCronOptions, 'name' | keyof HandlerOptions> {
  /** Either this or `every`. */
  readonly expression?: string;
  /** An interval such as `'30s'`; see `@SingletonCron`. */
  readonly every?: string;
  /** Whose method carries its runs out: the name of a cron that is declared in code; default: its own. */
  readonly handler?: string;
}

/** One of many crons: what `set` takes, in one object, as a line of an import has it. */
export interface NamedCron extends CronSettings {
  readonly name: string;
}
