import type { Sanitizer } from '../../sanitizer.ts';
import { explained } from '../connection/explained.ts';
import { readColumns } from './columns.ts';
import { digestColumns } from './digests.ts';
import { scratchPlaces } from './places.ts';
import { runQuery } from './query.ts';
import { splitStatements } from './statements.ts';
import { suggestQuery } from './suggestion.ts';
import { removeTraces } from './traces.ts';

export const sanitizer: Sanitizer = {
  splitQuery: splitStatements,
  readColumns: (context, request) => explained(request.url, () => readColumns(context, request)),
  digestColumns: (context, url, columns) => explained(url, () => digestColumns(context, url, columns)),
  runQuery: (context, run) => explained(run.url, () => runQuery(context, run)),
  removeTraces: (context, traces) => explained(traces.url, () => removeTraces(context, traces)),
  suggestQuery: (context, request) => explained(request.url, () => suggestQuery(context, request)),
  scratchPlaces,
};
