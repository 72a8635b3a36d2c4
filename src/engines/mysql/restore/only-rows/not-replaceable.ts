import { UserError } from '../../../../runtime/errors.ts';
import { boundedList } from '../../../../text/bounded-list.ts';

/** Most names in a message. */
const LISTED = 20;

export function notReplaceable(message: string, names: string[]): UserError {
  return new UserError('rows_not_replaceable', message, {
    details: names.length > 0 ? [boundedList(names, LISTED)] : [],
    hint: 'Leave these tables out, or load without --only.',
  });
}
