import * as v from 'valibot';
import { describe, number, orNull, texts } from './fields.ts';

/** Why a build reads all rows. */
export const allRead = describe(
  v.picklist(['asked', 'due', 'first', 'history', 'unprovable']),
  '`asked`: `--full`; `due`: `full_every` has passed; `first`: no evidence of an earlier build on this machine; `history`: another server, database or user, a restart of the server, or another version of this program; `unprovable`: the source proves nothing.',
);

export type AllRead = v.InferOutput<typeof allRead>;

export const rowReading = v.object({
  tables_read: number,
  tables_partly_read: describe(number, 'Some ranges of rows were read; the others are proved to be unchanged.'),
  tables_unchanged: describe(number, 'Their rows are proved to be those of the last build, and were not read.'),
  unchanged_bytes: describe(number, 'Bytes of content that were not read.'),
  read: describe(texts, 'Tables that were read in part or whole: the first 20.'),
  all_read: describe(
    orNull(allRead),
    'Why all rows were read; `null` when unchanged ranges were not, or no table is large enough for a proof.',
  ),
});

export type RowReadSummary = v.InferOutput<typeof rowReading>;
