import type { Sanitizer } from '../../sanitizer.ts';
import { readColumns } from './columns.ts';
import { digestColumns } from './digests.ts';
import { scratchPlaces } from './places.ts';
import { runQuery } from './query.ts';
import { splitStatements } from './statements.ts';
import { suggestQuery } from './suggestion.ts';
import { removeTraces } from './traces.ts';

export const sanitizer: Sanitizer = {
  splitQuery: splitStatements,
  readColumns,
  digestColumns,
  runQuery,
  removeTraces,
  suggestQuery,
  scratchPlaces,
};
