import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SingletonCron } from '@fencepost/jobs';

/** Known to the compiler as texts only: what it can read it refuses itself. */
const ATLANTIS: string = 'Europe/Atlantis';

@Injectable()
class BadZone {
  @SingletonCron('0 3 * * *', { name: 'bad', timeZone: ATLANTIS })
  underWater(): void {}
}

@Injectable()
class NameTwice {
  @SingletonCron('0 3 * * *', { name: 'same' })
  one(): void {}

  @SingletonCron('0 4 * * *', { name: 'same' })
  other(): void {}
}

/** As a hook of a user's that waits for a reply which never comes. */
@Injectable()
class NeverStops implements OnApplicationShutdown {
  onApplicationShutdown(): Promise<void> {
    return new Promise(() => {});
  }
}

/** Declarations a process has to refuse, and one that it can't stop, by the word that `CRONS` takes. */
export const BAD_CRONS = {
  'bad-zone': [BadZone],
  'name-twice': [NameTwice],
  'never-stops': [NeverStops],
};
