import type { Column } from '../../components/table.ts';
import type { Glyphs, Tone } from '../../components/theme.ts';
import type { Coverage } from '../../src/results/sanitize-results.ts';

/** A column that looks like personal data, and its state after the query. */
export interface CoverageRow {
  column: string;
  meaning: string;
  state: 'unchanged' | 'partly' | 'kept' | 'changed';
  /** Masked. */
  before: string[];
  after: string[];
  remark: string | null;
}

/** Findings first. */
export function coverageRows(coverage: Coverage | undefined): CoverageRow[] {
  const { findings, acknowledged, changed } = coverage ?? { findings: [], acknowledged: [], changed: [] };
  return [
    ...findings.map(({ column, meaning, state, samples, samples_after, generated }): CoverageRow => {
      const remark = generated ? 'made from other columns: change those' : null;
      return { column, meaning, state, before: samples, after: samples_after, remark };
    }),
    ...acknowledged.map(({ column, kind, reason }): CoverageRow => {
      return { column, meaning: kind.replaceAll('_', ' '), state: 'kept', before: [], after: [], remark: reason };
    }),
    ...changed.map(({ column, meaning, samples, samples_after }): CoverageRow => {
      return { column, meaning, state: 'changed', before: samples, after: samples_after, remark: null };
    }),
  ];
}

const TONES: Record<CoverageRow['state'], Tone> = {
  unchanged: 'bad',
  partly: 'caution',
  kept: 'dim',
  changed: 'good',
};

export function coverageColumns({ glyphs }: { glyphs: Glyphs }): Column<CoverageRow>[] {
  const marks: Record<CoverageRow['state'], string> = {
    unchanged: glyphs.bad,
    partly: glyphs.caution,
    kept: glyphs.none,
    changed: glyphs.good,
  };
  const samples = (values: string[]): string => (values.length === 0 ? glyphs.none : values.join('  '));
  return [
    { title: 'COLUMN', cell: ({ column, state }) => ({ text: `${marks[state]} ${column}`, tone: TONES[state] }) },
    { title: 'STATE', cell: ({ state }) => ({ text: state, tone: TONES[state] }) },
    { title: 'LOOKS LIKE', dropRank: 3, max: 24, cell: ({ meaning }) => ({ text: meaning }) },
    { title: 'BEFORE', dropRank: 2, max: 28, cell: ({ before }) => ({ text: samples(before) }) },
    { title: 'AFTER', grows: true, dropRank: 1, cell: ({ after }) => ({ text: samples(after) }) },
  ];
}
