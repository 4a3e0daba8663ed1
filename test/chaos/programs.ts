/** What a worker is started from: what it declares follows from it, see `test/pods/crons/chaos.ts`. */
export interface Program {
  readonly code: number;
  readonly config: number;
}

export const FIRST: Program = { code: 1, config: 0 };

/** As a pod is told it. */
export function programText({ code, config }: Program): string {
  return `${code}.${config}`;
}

/** Whether it has the cron that only some codes have. */
export function hasParting({ code }: Program): boolean {
  return code % 2 === 1;
}

/** A code that no program had before, and that has all crons. */
export function finalAfter({ code, config }: Program): Program {
  return { code: code + (code % 2 === 0 ? 1 : 2), config };
}

/** Of the crons that differ from one program to the next: their expressions. */
export function expressionsOf({ code, config }: Program): ReadonlyMap<string, string> {
  return new Map([
    ['chaos-keyed', code % 2 === 1 ? '* * * * * *' : '*/2 * * * * *'],
    ['chaos-items', config % 2 === 0 ? '*/2 * * * * *' : '*/3 * * * * *'],
    ['chaos-release', `${config % 60} ${code % 60} 12 29 2 *`],
    ...(hasParting({ code, config }) ? [['chaos-parting', '* * * * * *'] as const] : []),
  ]);
}

/** Stands for a program as a whole, and never has an instant. */
export const RELEASE = 'chaos-release';
