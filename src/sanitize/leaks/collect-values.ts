import type { RowFormat } from '../../engines/shared/rows/row-scanner.ts';
import { createFieldReader } from './field-reader.ts';
import { personalParts } from './personal-parts.ts';
import { createFieldScanner, type FieldPiece, type FieldScanner } from './stored-fields.ts';
import { classOf, type LeakColumn } from './value-class.ts';
import { MOST_WORDS, RARE, type ValueTable } from './value-table.ts';
import { createWordReader, type ReadValue } from './word-reader.ts';

/** A value, or the first words of a long one; the object is valid during the call. */
export interface CollectedValue {
  first: number;
  second: number;
  valueClass: number;
  value: ReadValue;
  source: LeakColumn;
  text(): string;
}

export interface CollectOptions {
  format: RowFormat;
  /** By position in the stored row. */
  sources: (LeakColumn | null)[];
  onValue: (value: CollectedValue) => void;
}

/** `false` when the table has no room. */
export function insertValue(table: ValueTable, { first, second, valueClass, value, source }: CollectedValue): boolean {
  // Single words within texts say too little.
  if (value.words > 1 || valueClass >= RARE) table.noteWords(value);
  // A number is one word where it is written without blanks.
  const isNumber = value.plainLetters + value.mixedLetters === 0 && value.words > 1 && value.words <= MOST_WORDS;
  if (isNumber && valueClass >= RARE) {
    table.noteWords({ words: 1, firstWord: first, firstDigits: value.digits, firstLetters: 0 });
  }
  table.noteShape(value.digits, value.plainLetters + value.mixedLetters);
  return table.insert(first, second, { column: source.id, valueClass });
}

/** Reads the values of personal columns, and the personal parts of documents and texts. */
export function createCollector({ format, sources, onValue }: CollectOptions): FieldScanner {
  const reader = createWordReader({});
  const field = createFieldReader(reader);
  const { value } = reader;

  let taken: CollectedValue | null = null;
  let text: string | null = null;
  let present: FieldPiece | null = null;

  function take(source: LeakColumn, valueClass: number): void {
    if (valueClass < 0) return;
    taken ??= {
      ...{ first: 0, second: 0, valueClass, value, source },
      text: () => text ?? (present ? field.textOf(present) : ''),
    };
    taken.first = value.first;
    taken.second = value.second;
    taken.valueClass = valueClass;
    taken.source = source;
    onValue(taken);
    if (value.words <= MOST_WORDS) return;
    taken.first = value.prefixFirst;
    taken.second = value.prefixSecond;
    onValue(taken);
  }

  function takeParts(source: LeakColumn, whole: string): void {
    for (const part of personalParts(whole)) {
      text = field.readText(part.text);
      take(source, classOf(value, source, part.kind));
    }
    text = null;
  }

  function onPiece(piece: FieldPiece): void {
    const source = sources[piece.column];
    if (!source || !field.read(piece)) return;
    const hasParts = source.hasParts || (value.hasAt && value.hasBlank);
    present = piece;
    take(source, classOf(value, source));
    if (hasParts) takeParts(source, field.textOf(piece));
  }

  return createFieldScanner({ format, isWanted: (column) => (sources[column] ?? null) !== null, onPiece });
}
