import type { Sanitizer } from '../sanitizer.ts';
import { explained } from './explained.ts';
import { readColumns } from './sanitize-columns.ts';
import { digestColumns } from './sanitize-digests.ts';
import { scratchPlaces } from './sanitize-places.ts';
import { runQuery } from './sanitize-query.ts';
import { splitStatements } from './sanitize-statements.ts';
import { suggestQuery } from './sanitize-suggestion.ts';
import { removeTraces } from './sanitize-traces.ts';

export const sanitizer: Sanitizer = {
  splitQuery: splitStatements,
  readColumns: (context, request) => explained(request.url, () => readColumns(context, request)),
  digestColumns: (context, url, columns) => explained(url, () => digestColumns(context, url, columns)),
  runQuery: (context, run) => explained(run.url, () => runQuery(context, run)),
  removeTraces: (context, traces) => explained(traces.url, () => removeTraces(context, traces)),
  suggestQuery: (context, request) => explained(request.url, () => suggestQuery(context, request)),
  scratchPlaces,
};
