import { FencepostError } from '@fencepost/lease';

/** Two processes of the same build number, or two programs, declare one cron with different content. */
export class DefinitionConflictError extends FencepostError {
  readonly code = 'DEFINITION_CONFLICT';

  /** @param source the other program that declares the cron; `null` for another process of the same build */
  constructor(
    readonly cron: string,
    readonly buildSeq: number,
    readonly source: string | null = null,
  ) {
    super(source === null ? sameBuild(cron, buildSeq) : otherProgram(cron, source));
  }
}

function sameBuild(cron: string, buildSeq: number): string {
  return (
    `The cron "${cron}" is already declared differently by a build with the same buildSeq ${buildSeq}. ` +
    `Give the newer build a higher buildSeq (JobsModule option "buildSeq", or build it again).`
  );
}

function otherProgram(cron: string, source: string): string {
  return (
    `The cron "${cron}" is already declared differently by the program "${source}". ` +
    `Rename it in one of the two, or first delete it from "${source}", or remove it with the CLI.`
  );
}
