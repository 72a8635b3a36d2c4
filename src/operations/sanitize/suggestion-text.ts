import { basename } from 'node:path';
import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { Column } from '../../presentation/shapes/column.ts';
import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Glyphs, Tone } from '../../presentation/shapes/glyphs.ts';
import type { QuerySavePlan, TrialResult, UnsanitizedColumn } from '../../results/review/sanitize-results.ts';
import { type ColumnChoices, chosenSql, type SuggestedQuery } from '../../results/review/suggested-query.ts';
import { formatDuration, formatNumberOf, formatPartOf } from '../../text/format.ts';

export interface SuggestionRow {
  column: string;
  /** In SQL. */
  name: string;
  meaning: string;
  state: 'replace' | 'leave' | 'keep' | 'choose' | 'generated';
  sql: string | null;
  /** Why the column keeps its values. */
  reason: string;
  values: TrialResult['columns'][number]['values'];
  error: string | null;
  partners: string[];
  /** Masked, from the search for personal data. */
  samples: string[];
}

interface SuggestionState {
  findings: UnsanitizedColumn[];
  query: SuggestedQuery;
  choices: ColumnChoices;
  trial: TrialResult | null;
}

export function suggestionRows({ findings, query, choices, trial }: SuggestionState): SuggestionRow[] {
  const tried = new Map(trial?.columns.map((each) => [each.column, each]));
  const samples = new Map(findings.map((finding) => [finding.column, finding.samples]));
  return query.tables.flatMap(({ columns }) =>
    columns.map((each): SuggestionRow => {
      const { column, name, meaning, generated, partners } = each;
      const choice = Object.hasOwn(choices, column) ? choices[column] : undefined;
      const sql = chosenSql(each, choices);
      const reason = choice?.action === 'leave' ? choice.reason : '';
      const left = choice?.action === 'leave' ? (reason === '' ? 'leave' : 'keep') : 'choose';
      const trialOf = sql === null ? undefined : tried.get(column);
      return {
        ...{ column, name, meaning, sql, reason, partners },
        state: generated ? 'generated' : sql === null ? left : 'replace',
        values: trialOf?.values ?? [],
        error: trialOf?.error ?? null,
        samples: samples.get(column) ?? [],
      };
    }),
  );
}

const CHOICE_LOOKS: Record<SuggestionRow['state'], { tone: Tone; glyph: keyof Glyphs; text: string }> = {
  replace: { tone: 'plain', glyph: 'marked', text: 'replaced' },
  leave: { tone: 'caution', glyph: 'pending', text: 'not replaced: still a finding' },
  keep: { tone: 'dim', glyph: 'pending', text: 'kept by a comment in the query' },
  choose: { tone: 'caution', glyph: 'pending', text: 'cannot be null: choose a value' },
  generated: { tone: 'dim', glyph: 'skipped', text: 'generated from other columns: change those' },
};

const SHOWN_VALUES = 3;

function shownValue(value: string | null): string {
  return value ?? 'NULL';
}

export function suggestionColumns({ glyphs }: { glyphs: Glyphs }): Column<SuggestionRow>[] {
  const listed = (values: string[]): string =>
    values.length === 0 ? glyphs.none : values.slice(0, SHOWN_VALUES).join('  ');
  return [
    {
      title: 'COLUMN',
      essential: true,
      cell: ({ column, state, error }) => {
        const { tone, glyph } = CHOICE_LOOKS[state];
        return error === null
          ? { text: `${glyphs[glyph]} ${column}`, tone }
          : { text: `${glyphs.bad} ${column}`, tone: 'bad' };
      },
    },
    { title: 'LOOKS LIKE', dropRank: 3, max: 24, cell: ({ meaning }) => ({ text: meaning }) },
    { title: 'NEW VALUE', dropRank: 4, max: 40, cell: ({ sql, state }) => ({ text: sql ?? state }) },
    {
      title: 'BEFORE',
      dropRank: 2,
      max: 24,
      cell: ({ values, samples }) => {
        const before = values.length > 0 ? values.map((each) => shownValue(each.before)) : samples;
        return { text: listed(before) };
      },
    },
    {
      title: 'AFTER',
      grows: true,
      dropRank: 1,
      cell: ({ values, error, sql }) => {
        if (error !== null) return { text: error, tone: 'bad' };
        if (sql === null) return { text: glyphs.none, tone: 'dim' };
        return { text: listed(values.map(({ after }) => shownValue(after))) };
      },
    },
  ];
}

export function suggestionFacts(row: SuggestionRow): Fact[] {
  const { state, sql, reason, values, error, partners, meaning, samples } = row;
  const shown = values.slice(0, SHOWN_VALUES);
  const before = shown.length > 0 ? shown.map((each) => shownValue(each.before)) : samples;
  return [
    { name: 'Looks like', value: meaning },
    sql === null
      ? { name: 'State', value: [CHOICE_LOOKS[state].text, ...(reason === '' ? [] : [reason])].join(': ') }
      : { name: 'New value', value: sql },
    ...(error === null ? [] : [{ name: 'Error', value: error }]),
    { name: 'Before', value: before.join('  ') || 'no values' },
    ...(error === null && sql !== null
      ? [{ name: 'After', value: shown.map(({ after }) => shownValue(after)).join('  ') || 'no values' }]
      : []),
    ...(partners.length > 0 ? [{ name: 'Foreign keys', value: `change alike: ${partners.join(', ')}` }] : []),
  ];
}

/** `11 of 12 columns replaced` */
export function suggestionText(rows: SuggestionRow[]): string {
  const replaced = rows.filter(({ state }) => state === 'replace').length;
  return `${formatPartOf(replaced, rows.length, 'column')} replaced`;
}

/** Rows of each column that a trial of replacements reads. */
export const TRIED_ROWS = 10;

/** `12 replacements tried on 10 rows in 84 ms: no errors` */
export function triedText({ ms, columns }: TrialResult): string {
  const failed = columns.filter(({ error }) => error !== null).length;
  const outcome = failed === 0 ? 'no errors' : `${formatNumberOf(failed, 'error')}`;
  return `${formatNumberOf(columns.length, 'replacement')} tried on ${TRIED_ROWS} rows in ${formatDuration(ms)}: ${outcome}`;
}

/** States how long it took to restore the copy that the query is tried in. */
export function openedText(ms: number): string {
  return `Copy restored in ${formatDuration(ms)}`;
}

/** Instead of the plan of a sanitization without a query. */
export function suggestionQuestion(target: string): { path: string[]; question: string; lines: string[] } {
  return {
    path: [target, 'sanitize'],
    question: `${target} has no sanitization query. Suggest one?`,
    lines: [
      'The snapshot is restored into a throw-away database, and its columns are searched for personal data.',
      'The source is not read. Nothing is stored before you save the query.',
    ],
  };
}

export const SUGGESTION_ANSWERS = {
  suggest: [
    { label: 'Cancel', value: 'leave' },
    { label: 'Suggest a query', value: 'go' },
  ],
  leave: [
    { label: 'Continue editing', value: 'stay' },
    { label: 'Discard the changes', value: 'leave' },
  ],
};

export function discardQuestion(target: string): { path: string[]; question: string; lines: string[] } {
  return { path: [target, 'suggestion'], question: 'Leave without saving the query?', lines: [] };
}

export const SUGGESTION_NOTICES = {
  generated: 'The column is generated from other columns: change those',
  trying: 'Trying the replacements…',
  noColumns: 'No column is replaced: there is nothing to save',
  notOpen: 'There is no suggestion yet',
  valueHint: 'the suggested value',
  reasonHint: 'why the values may stay, for reviewers',
};

/** Foreign keys need equal values on both sides. */
export function partnersText(partners: string[]): string {
  return `Give ${partners.join(', ')} an equal value: a foreign key connects them`;
}

export function querySaveLines({ file, exists, configuration }: QuerySavePlan): string[] {
  return [
    exists ? `Add to ${file}` : `Create ${file}`,
    ...(configuration ? [`Set ${configuration.key} to ${configuration.value} in ${configuration.file}`] : []),
  ];
}

export function querySavedText(file: string): string {
  return `Saved ${basename(file)}. Press ${keyText('sanitize')} to sanitize with it`;
}
