import type { CronDetail } from '../../data/types.js';

/** What every dialog about a cron is given. */
export interface CronOrderProps {
  readonly cron: CronDetail;
  readonly onClose: () => void;
}
