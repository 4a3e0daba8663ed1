/**
 * What keeps a page from telling others who looks at it.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const BROWSER_MUTANTS = [
  {
    name: 'board: fonts of somebody else',
    defence: 'the page of the board asks nobody but the pod it comes from',
    file: 'apps/scheduler/src/board/board-of-ours.ts',
    find: "html?.replaceAll(FROM_ELSEWHERE, '')",
    replace: 'html',
    killedBy: 'apps/scheduler/src/board/board-of-ours.spec.ts',
    test: 'asks nobody but its pod',
  },
];
