import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Prometheus' own checker where somebody has it, `null` otherwise: the suite's own checks run in any case. */
export const promtool: string | null =
  process.env['PROMTOOL'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'promtool'))
    .find((file) => existsSync(file)) ??
  null;
