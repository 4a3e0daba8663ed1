import { cronOrders } from '../../data/orders.js';
import { Order } from '../../ui/order.js';
import type { CronOrderProps } from './cron-order.js';

export function RemoveOrder({ cron: { name, source }, onClose }: CronOrderProps) {
  const execute = async (reason: string) => {
    await cronOrders.remove(name, { reason });
    return `${name} is removed.`;
  };
  const back = source === null ? '' : ` A newer build of ${source} that still declares it brings it back.`;
  return (
    <Order
      title={`Remove ${name}`}
      text={`It fires no more. Its history is kept.${back}`}
      verb="Remove"
      danger
      {...{ execute, onClose }}
    />
  );
}
