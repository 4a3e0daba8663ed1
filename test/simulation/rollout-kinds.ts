/** What an operator or an orchestrator does to the programs that run. */
export const ROLLOUTS = [
  ...['deploy', 'config change', 'roll back', 'rolling restart', 'straggler', 'canary', 'blue green'],
  ...['crash loop', 'scale to zero', 'second app', 'minute at load', 'revision cut off'],
] as const;
export type RolloutKind = (typeof ROLLOUTS)[number];
