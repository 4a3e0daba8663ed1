import { Shop } from '../shop.js';

/** The program of the container in cronjob.yaml: a pod is started for each run. */
export async function main(shop = new Shop()): Promise<number> {
  try {
    await shop.cleanUp();
    await shop.mail('clean-up is done');
    return 0;
  } catch {
    return 1;
  }
}
