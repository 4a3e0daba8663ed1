import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SingletonCron, type SingletonCronOptions } from '@fencepost/jobs';

/** Known to the compiler as texts only: what it can read it refuses itself. */
const AT_SIXTY_ONE: string = '61 * * * *';
const ATLANTIS: string = 'Europe/Atlantis';

@Injectable()
class BadExpression {
  @SingletonCron(AT_SIXTY_ONE, { name: 'bad' })
  atSixtyOne(): void {}
}

@Injectable()
class BadZone {
  @SingletonCron('0 3 * * *', { name: 'bad', timeZone: ATLANTIS })
  underWater(): void {}
}

@Injectable()
class UnknownOption {
  @SingletonCron('0 3 * * *', { name: 'bad', jitter: '5m' } as SingletonCronOptions)
  trembling(): void {}
}

@Injectable()
class BadDuration {
  @SingletonCron('0 3 * * *', { name: 'bad', grace: 'a while' })
  patient(): void {}
}

@Injectable()
class MissingName {
  @SingletonCron('0 3 * * *', {} as SingletonCronOptions)
  anonymous(): void {}
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
  'bad-expression': [BadExpression],
  'bad-zone': [BadZone],
  'unknown-option': [UnknownOption],
  'bad-duration': [BadDuration],
  'missing-name': [MissingName],
  'name-twice': [NameTwice],
  'never-stops': [NeverStops],
};
