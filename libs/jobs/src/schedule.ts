/* For applications that have `@nestjs/schedule`, which no other entry of this package loads. */

export { CronExpression } from '@nestjs/schedule';
export { ListedCronError } from './nest/listed-cron.js';
