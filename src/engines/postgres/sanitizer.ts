import type { Sanitizer } from '../sanitizer.ts';
import { readColumns } from './sanitize-columns.ts';
import { digestColumns } from './sanitize-digests.ts';
import { scratchPlaces } from './sanitize-places.ts';
import { runQuery } from './sanitize-query.ts';
import { splitStatements } from './sanitize-statements.ts';
import { suggestQuery } from './sanitize-suggestion.ts';
import { removeTraces } from './sanitize-traces.ts';

export const sanitizer: Sanitizer = {
  splitQuery: splitStatements,
  readColumns,
  digestColumns,
  runQuery,
  removeTraces,
  suggestQuery,
  scratchPlaces,
};
