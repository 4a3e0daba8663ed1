import { Injectable } from '@nestjs/common';
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

/** Declarations a process has to refuse, by the word that `CRONS` takes. */
export const BAD_CRONS = {
  'bad-zone': [BadZone],
  'name-twice': [NameTwice],
};
