import { SetupError } from '@fencepost/lease';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import type { JobsSettings } from './options.js';

/**
 * Loads what tracing needs only where somebody wants it: nobody else has these packages.
 * @throws {SetupError} when they are not installed
 */
export async function openTracing({ tracing }: JobsSettings, telemetry: Telemetry): Promise<Tracing | null> {
  if (!tracing) return null;
  try {
    const { OpenTelemetryTracing } = await import('../telemetry/open-telemetry.js');
    return new OpenTelemetryTracing(telemetry);
  } catch (cause) {
    const text =
      'Expected the packages @opentelemetry/api and bullmq-otel, because JobsModule has the option "tracing".';
    throw new SetupError(`${text} Install them, or leave the option out. ${String(cause)}`, { cause });
  }
}
