import { FencepostError } from '@fencepost/lease';

/** Two processes of the same build number declare one cron with different content. */
export class DefinitionConflictError extends FencepostError {
  readonly code = 'DEFINITION_CONFLICT';

  constructor(
    readonly cron: string,
    readonly buildSeq: number,
  ) {
    super(
      `The cron "${cron}" is already declared with another content by a build with the same buildSeq ${buildSeq}. ` +
        `Give the newer build a higher buildSeq (JobsModule option "buildSeq", or build it again).`,
    );
  }
}
