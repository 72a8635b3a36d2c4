import * as v from 'valibot';
import { describe, optional, orNull, text } from '../fields.ts';
import { SAVES_BEFORE } from './saves-before.ts';

/** Fields of a save that no snapshot has. */
export const saveOrigin = {
  automatic: optional(describe(v.picklist(SAVES_BEFORE), 'The operation that made it. Absent: `tool save`.')),
  branch: optional(
    describe(
      v.object({ name: text, owner: describe(orNull(text), 'The agent that made the save; `null`: a person.') }),
      'The branch that it is of. Absent: the destination.',
    ),
  ),
};
