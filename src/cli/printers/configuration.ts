import { basename } from 'node:path';
import { shadowLines } from '../../operations/configuration/check/check-text.ts';
import type { Cell, Column } from '../../presentation/shapes/column.ts';
import type {
  ExplainedValue,
  ShownConfiguration,
  ValueOrigin,
} from '../../results/configuration/configuration-results.ts';
import { joinLines } from '../../text/printable.ts';
import { type ProblemsView, problemsText } from './problems.ts';
import { formatTable, type TableOptions } from './table.ts';

/** A row of the table: a value, or the name of what the rows below it belong to. */
interface ValueRow {
  key: string;
  value?: ExplainedValue;
}

/** The values in force: on a terminal nested as in the file, otherwise a line each with its whole key; then the problems. */
export function configurationText(shown: ShownConfiguration, view: ProblemsView & TableOptions): string {
  const { file, shadowed, mode, values, problems } = shown;
  const rows = view.columns === null ? values.map((value) => ({ key: value.key, value })) : nestedRows(values);
  return [
    ...(values.length > 0 ? [formatTable(COLUMNS, rows, view)] : []),
    ...problemsText(problems, view).map((lines) => lines.join('\n')),
    ...(values.length > 0
      ? [joinLines([`From ${file ?? 'the variables'}, ${mode} mode`, ...shadowLines(shadowed)])]
      : []),
  ].join('\n\n');
}

const COLUMNS: Column<ValueRow>[] = [
  { title: 'KEY', cell: ({ key, value }) => ({ text: key, tone: value ? 'plain' : 'strong' }) },
  { title: 'VALUE', cell: ({ value }) => ({ text: value ? valueText(value.value) : '' }) },
  { title: 'FROM', cell: ({ value }) => (value ? originCell(value.origin) : { text: '' }) },
];

/** A row for each name on the way to a value, said once. */
function nestedRows(values: ExplainedValue[]): ValueRow[] {
  let before: ExplainedValue['path'] = [];
  return values.flatMap((value) => {
    const { path } = value;
    const shared = path.findIndex((part, depth) => part !== before[depth]);
    before = path;
    const names = path.map((part, depth) => '  '.repeat(depth) + (typeof part === 'number' ? `[${part}]` : part));
    return names.slice(shared).map((key, index, shown) => (index === shown.length - 1 ? { key, value } : { key }));
  });
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : value.map(valueText).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function originCell({ kind, file, line, variable }: ValueOrigin): Cell {
  if (kind === 'file') return { text: `${basename(file ?? '')}:${line}`, tone: 'dim' };
  return { text: variable ?? kind, tone: kind === 'variable' ? 'accent' : 'dim' };
}
