import { toUserError } from '../../src/errors.ts';
import type { Model } from './model.ts';

/** Says in passing what failed, and what to do next. */
export function notifyFailure({ navigation }: Pick<Model, 'navigation'>, thrown: unknown): void {
  const { message, hint } = toUserError(thrown);
  navigation.notify({ tone: 'bad', text: [message, hint].filter(Boolean).join('. ') });
}
