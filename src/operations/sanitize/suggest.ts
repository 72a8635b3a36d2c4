import type { Engine } from '../../engines/engine.ts';
import type { ReplacementTrial } from '../../engines/facets/sanitize.ts';
import type { Database } from '../../engines/open-database.ts';
import { engineOf } from '../../engines/registry.ts';
import type { Suggestion, TrialResult, UnsanitizedColumn } from '../../results/review/sanitize-results.ts';
import { type ColumnChoices, chosenSql, type SuggestedQuery } from '../../results/review/suggested-query.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { columnName } from '../../sanitize/column-facts.ts';
import { maskValue } from '../../sanitize/coverage.ts';
import { writeQuery } from '../../sanitize/suggestion.ts';
import { inScratchDatabase } from '../snapshots/in-scratch-database.ts';
import { assertTrusted } from '../snapshots/signatures.ts';
import { findSnapshot } from '../snapshots/snapshots.ts';
import { presentQuery } from './present-query.ts';
import type { SanitizeRequest } from './sanitize.ts';
import { runQueryAndCompare } from './sanitize-database.ts';
import { TRIED_ROWS } from './suggestion-text.ts';

/** Writes a query for what the target's own query, if it has one, leaves: in a throw-away database, storing nothing. */
export function suggest(context: Context, request: SanitizeRequest): Promise<Suggestion> {
  return withSuggestion(context, request, async ({ findings, query }) => ({ findings, query: writeQuery(query) }));
}

/** A suggestion whose throw-away database is open. */
export interface OpenSuggestion {
  findings: UnsanitizedColumn[];
  query: SuggestedQuery;
  write(choices: ColumnChoices): string;
  /** Milliseconds for restoring and examining the snapshot. */
  openedMs: number;
  /** Tries the chosen replacements on a few rows of each column; nothing of it remains. */
  tryOut(choices: ColumnChoices): Promise<TrialResult>;
}

/** Keeps the throw-away database open while `use` runs, then drops it. Steps: those of a restore, `survey`, `query`, `coverage`. */
export async function withSuggestion<Result>(
  context: Context,
  request: SanitizeRequest,
  use: (opened: OpenSuggestion) => Promise<Result>,
): Promise<Result> {
  const began = performance.now();
  const { target } = request;
  const { manifest } = await findSnapshot(context, { ...request, original: true });
  assertTrusted(context, manifest, request);
  const { statements, keep } = await presentQuery(context, target, engineOf(manifest.engine));
  return inScratchDatabase(context, { ...request, manifest }, async ({ database }) => {
    const work = { database, manifest, statements, keep };
    const { findings, suspicions, columns } = await runQueryAndCompare(context, work);
    const left = new Set(findings.map(({ column }) => column));
    const suspects = suspicions.filter(({ facts }) => left.has(columnName(facts)));
    const suggested = await database.sanitize.suggestQuery({ columns, suspects });
    const openedMs = Math.round(performance.now() - began);
    const tryOut = (choices: ColumnChoices): Promise<TrialResult> =>
      tryChoices(database, { manifest, query: suggested, choices, rows: TRIED_ROWS });
    const write = (choices: ColumnChoices): string => writeQuery(suggested, choices);
    return use({ findings, query: suggested, write, openedMs, tryOut });
  });
}

async function tryChoices(
  { engine, sanitize }: Database,
  request: Omit<ReplacementTrial, 'url' | 'columns'>,
): Promise<TrialResult> {
  const began = performance.now();
  const { query, choices } = request;
  const columns: ReplacementTrial['columns'] = [];
  const refused = new Map<string, string>();
  for (const { name: table, columns: ofTable } of query.tables) {
    for (const each of ofTable) {
      const sql = chosenSql(each, choices);
      if (sql === null) continue;
      const reason = await notAnExpression(engine, `UPDATE ${table} SET ${each.name} = ${sql}`);
      if (reason === null) columns.push({ column: each.column, table, name: each.name, sql });
      else refused.set(each.column, reason);
    }
  }
  const tried = columns.length === 0 ? [] : await sanitize.tryReplacements({ ...request, columns });
  return {
    ms: Math.round(performance.now() - began),
    columns: [
      ...tried.map(({ column, values, error }) => ({
        column,
        values: values.map(({ before, after }) => ({ before: masked(before), after: masked(after) })),
        error,
      })),
      ...[...refused].map(([column, error]) => ({ column, values: [], error })),
    ],
  };
}

/** Several statements, commands of a client, statements beyond the database: the splitter of the engine knows them. */
async function notAnExpression({ splitQuery }: Engine, update: string): Promise<string | null> {
  try {
    const statements = await splitQuery(update);
    return statements.length === 1 ? null : 'Not one SQL expression';
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

function masked(value: string | null): string | null {
  return value === null ? null : maskValue(value);
}
