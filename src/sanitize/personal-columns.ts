import type { ColumnFacts, ColumnFamily } from './column-facts.ts';
import { detectPersonalData } from './detector/detect.ts';
import type { PersonalKind } from './detector/kinds.ts';

const FAMILIES: ColumnFamily[] = ['text', 'number', 'date', 'time', 'network', 'hardware', 'document', 'binary'];

export interface ReadColumns {
  schema: string;
  table: string;
  columns: string[];
  /** The values that are not NULL, by column. */
  samples: string[][];
}

/**
 * The columns that look like personal data, by index. The types of the columns are not known: a column counts as what
 * any type would make of it.
 */
export function personalColumns({ schema, table, columns, samples }: ReadColumns): Map<number, PersonalKind> {
  const found = new Map<number, PersonalKind>();
  for (const family of FAMILIES) {
    const facts = columns.map((column, index) => factsOf({ schema, table, column, family }, samples[index] ?? []));
    for (const { facts: suspect, kind } of detectPersonalData(facts)) {
      const index = facts.indexOf(suspect);
      if (!found.has(index)) found.set(index, kind);
    }
  }
  return found;
}

type ColumnName = Pick<ColumnFacts, 'schema' | 'table' | 'column' | 'family'>;

function factsOf(named: ColumnName, samples: string[]): ColumnFacts {
  return {
    ...named,
    type: named.family,
    ...{ maxLength: null, unique: false, nullable: true, ignoresCase: false, generated: false },
    ...{ sampled: samples.length, distinct: new Set(samples).size, samples, sampleHashes: [] },
  };
}
